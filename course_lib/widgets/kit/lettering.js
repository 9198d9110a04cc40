import { clamp } from "../maths/numerics.js";

const FACE = "system-ui, sans-serif";
const ruler = document.createElement("canvas").getContext("2d");

/**
 * The width of a text in a drawing, in pixels.
 * @param {string} text
 * @param {number} size of its type
 */
export function textWidth(text, size, weight = 500) {
  ruler.font = `${weight} ${size}px ${FACE}`;
  return ruler.measureText(text).width;
}

/** @param {string[]} texts @param {number} size */
export const widest = (texts, size) => Math.max(...texts.map((text) => textWidth(text, size)));

/**
 * The middle of a label: x, or the nearest place at which the label is inside its picture.
 * @param {string} label
 * @param {number} x
 * @param {number} width of the picture
 * @param {number} size of the type
 */
export function middleOf(label, x, width, size, weight = 500) {
  const half = textWidth(label, size, weight) / 2 + 2;
  return clamp(x, half, width - half);
}

/** How bright a colour is to the eye, from 0 to 1: the relative luminance of WCAG. */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Black or white, whichever has the larger contrast with a background: at least 4.5 on any.
 * @param {number[]} ground red, green and blue, up to 255
 */
export const readableOn = (ground) =>
  1.05 * 0.05 > (luminance(ground) + 0.05) ** 2 ? "#fff" : "#000";

const GAP = 8;

/**
 * The labels on a line that do not overlap; of two that are too close, the earlier one stays.
 * @template {{ text: string, middle: number }} Label
 * @param {Label[]} labels
 * @param {number} size of the type
 * @returns {Label[]}
 */
export function apart(labels, size) {
  const reach = ({ text }) => textWidth(text, size) / 2;
  /** @type {Label[]} */
  const kept = [];
  for (const label of labels) {
    const clear = (other) =>
      Math.abs(other.middle - label.middle) >= reach(other) + reach(label) + GAP;
    if (kept.every(clear)) kept.push(label);
  }
  return kept;
}

/**
 * A text, cut with an ellipsis if it is wider than `room`; at least one letter stays.
 * @param {string} text
 * @param {number} room in pixels
 * @param {number} size of its type
 */
export function shortened(text, room, size) {
  if (textWidth(text, size) <= room) return text;
  const letters = [...text];
  const cut = (count) => `${letters.slice(0, count).join("")}…`;
  let [fits, overflows] = [1, letters.length];
  while (overflows - fits > 1) {
    const middle = Math.floor((fits + overflows) / 2);
    if (textWidth(cut(middle), size) <= room) fits = middle;
    else overflows = middle;
  }
  return cut(fits);
}
