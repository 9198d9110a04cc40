/** Widths of a figure, in pixels, one of which suits the window best. */
const WIDTHS = [704, 816, 864, 944];
/** The largest figure that is not scrolled: on 1920 by 1080 pixels, its text of 12 px has 20 px. */
const [WIDEST, HIGHEST] = [1152, 648];
const FIELDS = "select, [type=text]";
/** What this needs is younger than all else in a figure. */
const able = "popover" in HTMLElement.prototype && CSS.supports("zoom", "2");

/**
 * Lets a figure fill the window: the key F does it and undoes it, Escape undoes it. The figure stays
 * where it is in the document, and the page, which keeps its room, is out of reach meanwhile.
 * @param {HTMLElement} root
 * @param {HTMLElement} place holds the root alone
 * @param {{ fit: () => void, changed: () => void }} draws `fit` at once, by the widths of this moment
 */
export function enlarging(root, place, { fit, changed }) {
  const { style } = root;
  const large = () => root.hasAttribute("popover");

  /** Takes the width at which the figure can be enlarged most, and enlarges it. */
  function fill() {
    Object.assign(style, { zoom: "1", height: "fit-content" });
    const scaleAt = (width) => {
      style.paddingInline = `max(1rem, 50% - ${width / 2}px + 1rem)`;
      fit();
      return Math.min(innerWidth / width, innerHeight / (root.offsetHeight + 1));
    };
    const scales = WIDTHS.map(scaleAt);
    // Of two that fit nearly as well, the wider one has the larger pictures.
    const best = scales.findLastIndex((scale) => scale > 0.97 * Math.max(...scales));
    const least = Math.max(1, Math.min(innerWidth / WIDEST, innerHeight / HIGHEST));
    let scale = Math.max(least, scaleAt(WIDTHS[best]));
    Object.assign(style, { height: "", zoom: `${scale}` });
    // Lines may break otherwise at another size.
    while (scale > least && root.scrollHeight > root.clientHeight) {
      scale *= 0.98;
      style.zoom = `${scale}`;
    }
  }
  function open() {
    const { height } = root.getBoundingClientRect();
    Object.assign(place.style, {
      height: `${height}px`,
      marginBlock: getComputedStyle(root).marginBlock,
    });
    root.popover = "manual";
    root.showPopover();
    root.tabIndex = -1;
    if (!root.contains(document.activeElement)) root.focus();
    fill();
    addEventListener("resize", fill);
    addEventListener("beforeprint", close);
    changed();
  }
  function close() {
    if (!large()) return;
    removeEventListener("resize", fill);
    removeEventListener("beforeprint", close);
    root.removeAttribute("popover");
    Object.assign(style, { zoom: "", paddingInline: "" });
    Object.assign(place.style, { height: "", marginBlock: "" });
    if (document.activeElement === root)
      /** @type {any} */ (root.querySelector(".cw-enlarge")).focus();
    root.removeAttribute("tabindex");
    fit();
    changed();
  }
  const toggle = () => (large() ? close() : open());
  root.addEventListener("keydown", (event) => {
    const { key, ctrlKey, altKey, metaKey } = event;
    const field = /** @type {HTMLElement} */ (event.target).matches(FIELDS);
    const ours = key === "Escape" ? large() : able && key === "f" && !field;
    if (!ours || ctrlKey || altKey || metaKey) return;
    event.preventDefault();
    toggle();
  });
  return { able, large, toggle, stop: close };
}
