"""How a widget looks: which texts are too faint to read, and what reaches out of its frame."""

# WCAG 2.2, criterion 1.4.3. An SVG text stands on its own halo, or else on the widget's paper.
FAINT_TEXTS = """(el) => {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    return brush.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (colour) => {
    const [r, g, b] = [...rgb(colour)].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (at === e && at instanceof SVGTextElement && style.stroke !== "none") return style.stroke;
      if (rgb(style.backgroundColor)[3] === 255) return style.backgroundColor;
    }
    return "white";
  };
  const faint = [];
  for (const e of el.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    if (!own || !e.checkVisibility() || e.closest(".cw-announcer, option")) continue;
    const style = getComputedStyle(e);
    const ink = e instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [luminance(ink), luminance(ground(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push([e.textContent.slice(0, 40), ink, ground(e), contrast]);
  }
  return faint;
}"""

# What is cut off, or scrolls, within the frame does not count.
SPILLED = """(el) => {
  const frame = el.querySelector(".cw");
  const box = frame.getBoundingClientRect();
  const cut = (e) => {
    // Nothing is drawn beyond a clip; where it ends is asked of the picture around it.
    if (getComputedStyle(e).clipPath !== "none") return true;
    for (let at = e.parentElement; at !== frame; at = at.parentElement) {
      if (at.closest("defs") || getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  // A group draws nothing itself, and its box takes no notice of a clip.
  return [...frame.querySelectorAll(":not(g)")].filter((e) => {
    const { left, right } = e.getBoundingClientRect();
    const out = right > box.right + 1 || left < box.left - 1;
    return out && e.checkVisibility() && !e.closest(".cw-announcer, defs") && !cut(e);
  }).map((e) => e.outerHTML.slice(0, 200));
}"""
