/**
 * The colours of the page's theme, for canvases: `ink("accent")` is the value of
 * `var(--cw-accent)`, and `rgb("accent")` the same as three numbers. `version` counts the changes.
 * @param {HTMLElement} root
 * @param {() => void} changed is called when the theme of the page changes
 */
export function themeOf(root, changed) {
  /** @type {Map<string, string>} */
  const known = new Map();
  const probe = document.createElement("canvas").getContext("2d");
  const theme = { version: 0, ink, rgb, look, stop: () => observer.disconnect() };

  /** @param {string} name @returns {string} */
  function ink(name) {
    let colour = known.get(name);
    if (colour === undefined) {
      colour = getComputedStyle(root).getPropertyValue(`--cw-${name}`).trim();
      known.set(name, colour);
    }
    return colour;
  }
  /** @param {string} name @returns {number[]} */
  function rgb(name) {
    probe.fillStyle = ink(name);
    const hex = String(probe.fillStyle);
    return [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));
  }
  function look() {
    known.clear();
    theme.version += 1;
    changed();
  }
  const observer = new MutationObserver(look);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  // JupyterLab draws before the figure is in the page, where it has no style yet.
  const inThePage = new ResizeObserver(() => {
    inThePage.disconnect();
    look();
  });
  if (!root.isConnected) inThePage.observe(root);
  return theme;
}
