"""How many frames a page asks for, so that a test sees work where none should be."""

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
SOME_FRAMES = """async () => {
  for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
}"""
