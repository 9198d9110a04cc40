/**
 * The colours that a canvas needs as numbers: CSS custom properties of `root`, read afresh when the
 * page changes its theme. `colours()[name]` is `[red, green, blue]`.
 */
export function themeColours(root, names, onThemeChange) {
  let known = null;
  const probe = document.createElement("canvas").getContext("2d");

  function toNumbers(colour) {
    probe.fillStyle = colour;
    const hex = probe.fillStyle;
    return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  }
  function read() {
    const style = getComputedStyle(root);
    return Object.fromEntries(names.map((name) => [name, toNumbers(style.getPropertyValue(`--cw-${name}`).trim())]));
  }
  const observer = new MutationObserver(() => {
    known = null;
    onThemeChange();
  });
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  return {
    colours: () => (known ??= read()),
    stop: () => observer.disconnect(),
  };
}
