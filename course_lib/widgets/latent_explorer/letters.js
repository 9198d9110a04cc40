// Alphabets and words, drawn from the ink of each pixel.

import { bytesOf } from "../kit/array.js";
import { painted } from "../kit/painted.js";
import { inkOf } from "../kit/pixels.js";
import { LETTERS, PIXELS, SIZE, spaced } from "../maths/latent.js";
import { html } from "../vendor/lit-html/lit-html.js";

const COLUMNS = 9;
const [WIDTH, HEIGHT] = [COLUMNS * SIZE, Math.ceil(LETTERS / COLUMNS) * SIZE];
const GAP = 2.2;
const [LARGEST, USUAL] = [4.1, 11];
/** A figure that fills the window is so wide, and its letters are enlarged with it. */
const [WIDE, LARGEST_IF_WIDE] = [800, 2.6];
const LEVELS = 15; // of grey, and paper
const A = "a".charCodeAt(0);

/** @param {string} word */
export const lettersOf = (word) => [...word].map((letter) => letter.charCodeAt(0) - A);

/** The bytes of a deflated text. @param {string} base64 @returns {Promise<Uint8Array>} */
export async function inflated(base64) {
  const stream = new Blob([/** @type {any} */ (bytesOf(base64))]).stream();
  const bytes = stream.pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}

/** The ink of a real alphabet, from the grey levels of all, two in a byte. */
export function realInk(levels, place) {
  const ink = new Float32Array(LETTERS * PIXELS);
  const from = (place * ink.length) / 2;
  for (let pair = 0; pair < ink.length / 2; pair += 1) {
    ink[2 * pair] = (levels[from + pair] >> 4) / LEVELS;
    ink[2 * pair + 1] = (levels[from + pair] & LEVELS) / LEVELS;
  }
  return ink;
}

/** A canvas with all letters of an ink, a pixel each: what alphabets and words are cut from. */
function sheetOf(ui, name, ink) {
  const { canvas, image } = ui.memo(`canvas ${name}`, [], () => ({
    canvas: Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT }),
    image: new ImageData(WIDTH, HEIGHT),
  }));
  return ui.memo(`sheet ${name}`, [ink, ui.theme.version], () => {
    const words = new Uint32Array(image.data.buffer);
    const colour = inkOf(ui.theme.rgb("ink"), 0);
    for (let at = 0; at < ink.length; at += 1) {
      const [letter, pixel] = [Math.floor(at / PIXELS), at % PIXELS];
      const row = Math.floor(letter / COLUMNS) * SIZE + Math.floor(pixel / SIZE);
      const column = (letter % COLUMNS) * SIZE + (pixel % SIZE);
      words[row * WIDTH + column] = colour | (Math.round(255 * ink[at]) << 24);
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return { canvas };
  });
}

/** Letters of an ink as small pictures, in faint ink: what stands behind the map. */
export function tiles(ui, name, ink, opacity) {
  return ui.memo(name, [ink, ui.theme.version], () => {
    const words = new Uint32Array(ink.length);
    const colour = inkOf(ui.theme.rgb("ink"), 0);
    ink.forEach((share, at) => {
      words[at] = colour | (Math.round(255 * opacity * share) << 24);
    });
    const height = ink.length / SIZE;
    const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height });
    const image = new ImageData(new Uint8ClampedArray(words.buffer), SIZE, height);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  });
}

/** All letters in three rows. @param {any} ui @param {string} name */
export function alphabet(ui, name, ink, label) {
  const sheet = sheetOf(ui, name, ink);
  const paint = (context) => context.drawImage(sheet.canvas, 0, 0);
  return html`<canvas class="cw-x-alphabet" role="img" aria-label=${label} data-letters=${name}
    ${painted(ui, { width: WIDTH, height: HEIGHT, cells: true, inputs: [sheet], paint })}></canvas>`;
}

const usualOf = (word, width, largest) =>
  Math.min(width > WIDE ? LARGEST_IF_WIDE : largest, width / (USUAL * word.length));

/** How high a word stands: it hangs on how many letters it has alone. */
export const heightIn = (word, width, largest = LARGEST) =>
  Math.round(SIZE * usualOf(word, width, largest));

/** A word, as large as `width` allows. */
export function wordIn(ui, name, ink, { word, width, label, largest = LARGEST }) {
  const sheet = sheetOf(ui, name, ink);
  const letters = lettersOf(word);
  const set = ui.memo(`set ${name}`, [ink, word], () => spaced(ink, letters, GAP));
  const scale = Math.min(usualOf(word, width, largest), width / set.width);
  const height = heightIn(word, width, largest);
  const top = (height - SIZE * scale) / 2;
  const paint = (context) => {
    letters.forEach((letter, i) => {
      const from = [(letter % COLUMNS) * SIZE, Math.floor(letter / COLUMNS) * SIZE, SIZE, SIZE];
      const [left, side] = [set.places[i] * scale, SIZE * scale];
      context.drawImage(sheet.canvas, ...from, left, top, side, side);
    });
  };
  return html`<canvas class="cw-x-word" role="img" aria-label=${label} style="height: ${height}px"
    ${painted(ui, { width, height, inputs: [sheet, word, scale], paint })}></canvas>`;
}
