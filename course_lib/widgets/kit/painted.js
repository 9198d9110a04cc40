import { same } from "../maths/numerics.js";
import { Directive, directive } from "../vendor/lit-html/directive.js";
import { noChange } from "../vendor/lit-html/lit-html.js";

/**
 * Paints a canvas: `<canvas ${painted(ui, { width, height, inputs, paint })}></canvas>`.
 *
 * `paint(context)` draws `width` by `height` CSS pixels at the resolution of the device. With
 * `cells: true` one pixel is one cell, and CSS scales the canvas. It paints again only if one of
 * `inputs`, the size or the theme has changed.
 */
class Painted extends Directive {
  /** @type {unknown[]} */
  seen = [];

  render() {
    return noChange;
  }

  /** @param {any} part @param {any} given */
  update({ element: canvas }, [ui, { width, height, inputs, paint, cells = false }]) {
    const density = cells ? 1 : devicePixelRatio * (canvas.currentCSSZoom ?? 1);
    const seen = [width, height, density, ui.theme.version, ...inputs];
    if (same(seen, this.seen)) return noChange;
    this.seen = seen;
    // Setting the size of a canvas, even to the same value, clears it.
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    const context = canvas.getContext("2d");
    context.scale(density, density);
    paint(context);
    return noChange;
  }
}

/**
 * @type {(ui: any, picture: {
 *   width: number, height: number, inputs: unknown[], cells?: boolean,
 *   paint: (context: CanvasRenderingContext2D) => void,
 * }) => unknown}
 */
export const painted = directive(Painted);

/**
 * The cells of a matrix in one colour, one pixel each: the larger a weight in [0, 1], the more
 * opaque. A row may be null.
 * @param {any} ui
 * @param {(ArrayLike<number> | null)[]} matrix
 * @param {{ width: number, ink: string, opacity?: (weight: number) => number }} options `width` in
 *   cells
 */
export function inked(ui, matrix, { width, ink, opacity = (weight) => weight }) {
  const height = matrix.length;
  const paint = (context) => {
    const [pixels, rgb] = [new ImageData(width, height), ui.theme.rgb(ink)];
    matrix.forEach((row, i) => {
      for (let j = 0; row && j < width; j += 1) {
        pixels.data.set([...rgb, Math.round(255 * opacity(row[j]))], 4 * (i * width + j));
      }
    });
    context.putImageData(pixels, 0, 0);
  };
  return painted(ui, { width, height, inputs: [matrix], paint, cells: true });
}
