"""The look of a widget: texts too faint or too small, and parts outside its frame."""

# WCAG 2.2, criterion 1.4.3, with colours blended as in axe-core: all backgrounds of a text, and
# all opacities. The background of an SVG text is its halo, or else the widget's paper; numbers in
# cells of a map are skipped, since they adapt to their cell.
FAINT_TEXTS = """(el) => {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (below, colour, share) => {
    for (const [paint, alpha] of [[`rgb(${below})`, 1], [colour, share]]) {
      brush.globalAlpha = alpha;
      brush.fillStyle = paint;
      brush.fillRect(0, 0, 1, 1);
    }
    return [...brush.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = new Map([[null, [[255, 255, 255], 1]]]);
  const ground = (e) => {
    if (!grounds.has(e)) {
      const [below, share] = ground(e.parentElement);
      const { backgroundColor, opacity } = getComputedStyle(e);
      grounds.set(e, [painted(below, backgroundColor, share * opacity), share * opacity]);
    }
    return grounds.get(e);
  };
  const takesText = "select, textarea, input:not([type=range], [type=checkbox], [type=radio])";
  const faint = [];
  for (const e of el.querySelectorAll("*")) {
    const text = e.matches(takesText) ? e.outerHTML
      : [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data).join("");
    if (!text.trim() || !e.checkVisibility()) continue;
    if (e.closest(".cw-announcer, option, [data-weight]")) continue;
    const [below, share] = ground(e);
    for (const part of e.placeholder ? ["", "::placeholder"] : [""]) {
      const style = getComputedStyle(e, part);
      const halo = e instanceof SVGTextElement && style.stroke !== "none";
      const paper = halo ? painted(below, style.stroke, share) : below;
      const ink = painted(paper, e instanceof SVGElement ? style.fill : style.color, share);
      const [a, b] = [luminance(ink), luminance(paper)].sort((x, y) => y - x);
      const contrast = (a + 0.05) / (b + 0.05);
      if (contrast < 4.5) faint.push([text.trim().slice(0, 80), ink, paper, contrast]);
    }
  }
  return faint;
}"""

# Parts that are clipped or scroll within the frame do not count.
SPILLED = """(el) => {
  const frame = el.querySelector(".cw");
  const box = frame.getBoundingClientRect();
  const cut = (e) => {
    // Nothing is drawn beyond a clip; the picture around it is checked instead.
    if (getComputedStyle(e).clipPath !== "none") return true;
    for (let at = e.parentElement; at !== frame; at = at.parentElement) {
      if (at.closest("defs") || getComputedStyle(at).overflowX !== "visible") return true;
    }
    return false;
  };
  // A group draws nothing itself, and its box ignores clips.
  return [...frame.querySelectorAll(":not(g)")].filter((e) => {
    const { left, right } = e.getBoundingClientRect();
    const out = right > box.right + 1 || left < box.left - 1;
    return out && e.checkVisibility() && !e.closest(".cw-announcer, defs") && !cut(e);
  }).map((e) => e.outerHTML.slice(0, 200));
}"""

# Of live figures, in pixels of the window, and of drawings, which may have 10; except exponents.
SMALL_LETTERS = """(least) => [...document.querySelectorAll(
    ":is(figure svg, .cw) :is(text, tspan), .cw :not(svg *, .cw-announcer, option, sub, sup)")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()))
  .filter((e) => e.checkVisibility())
  .filter((e) => {
    const place = e.getScreenCTM?.();
    const scale = place ? Math.sqrt(Math.abs(place.a * place.d - place.b * place.c))
      : e.currentCSSZoom;
    const bound = e.closest(".cw") ? least : e.closest(".drawing.smaller") ? 9.8 : 10;
    return parseFloat(getComputedStyle(e).fontSize) * scale < bound - 0.01;
  })
  .map((e) => `${e.closest(".cw-host")?.dataset.widget ?? "still"}: ${e.textContent}`)"""
