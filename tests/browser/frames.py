"""Time in a page: how many frames it asks for, so that a test sees work where none should be."""

# Counts the frames that the page asks for; `courseFrame` is the browser's own way to wait for one.
COUNT_FRAMES = """
  window.courseFrame = window.requestAnimationFrame.bind(window);
  window.courseFrames = 0;
  window.requestAnimationFrame = (draw) => {
    window.courseFrames += 1;
    return window.courseFrame(draw);
  };
"""
FRAMES_WHILE_IDLE = """async () => {
  for (let i = 0; i < 10; i += 1) await new Promise(courseFrame);
  const before = courseFrames;
  for (let i = 0; i < 20; i += 1) await new Promise(courseFrame);
  return courseFrames - before;
}"""
# A hand inside the page: one from outside may come too late where the machine does much else.
# Presses a button once a trait has changed so many times, and notes what the buttons said then.
PRESS_AFTER_CHANGES = """(el, [trait, changes, name]) => {
  let left = changes;
  el.courseModel.on(`change:${trait}`, () => {
    left -= 1;
    if (left !== 0) return;
    setTimeout(() => {
      const buttons = [...el.querySelectorAll("button")];
      el.courseButtons = buttons.map((button) => button.textContent);
      buttons.find((button) => button.textContent.includes(name)).click();
    });
  });
}"""
BUTTONS_WHEN_PRESSED = """async (el) => {
  while (!el.courseButtons) await new Promise(requestAnimationFrame);
  return el.courseButtons;
}"""
# Notes each value that a trait takes from now on.
NOTE_VALUES = """(el, name) => {
  el.courseValues = [];
  el.courseModel.on(`change:${name}`, () => el.courseValues.push(el.courseModel.get(name)));
}"""
VALUES = "(el) => el.courseValues"
# Notes each state that the traits come to rest in before a frame is drawn, each once in a row; one
# who asks from outside may miss some.
NOTE_STATES = """(el, names) => {
  el.courseStates = [];
  const note = () => {
    const state = names.map((name) => el.courseModel.get(name));
    if (state.join() !== el.courseStates.at(-1)?.join()) el.courseStates.push(state);
  };
  for (const name of names) {
    el.courseModel.on(`change:${name}`, () => queueMicrotask(note));
  }
}"""
STATES = "(el) => el.courseStates"
HALF_A_SECOND = "() => new Promise((pass) => setTimeout(pass, 500))"
SOME_FRAMES = """async () => {
  for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
}"""
# The moments that twenty frames of a film show. What watches the page itself hears of a frame
# before the next one can come, however busy the machine is.
WATCH_MOMENTS = """(el) => new Promise((done) => {
  const moments = [];
  const watch = new MutationObserver(() => {
    moments.push(Number(el.querySelector("[data-time]").dataset.time));
    if (moments.length < 20) return;
    watch.disconnect();
    done(moments);
  });
  watch.observe(el, { subtree: true, attributes: true, attributeFilter: ["data-time"] });
})"""
