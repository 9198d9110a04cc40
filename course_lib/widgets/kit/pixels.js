/**
 * A rectangle of pixels that are set one by one: faster than shapes for ten thousand dots. Reuse
 * it, and clear it before each picture; `context.putImageData(image, 0, 0)` shows it.
 * @param {number} width
 * @param {number} height
 */
export function pixels(width, height) {
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  return {
    image,
    clear: () => words.fill(0),
    /** Two by two pixels at shares of the width and of the height, if they are inside. */
    dot(x, y, ink) {
      if (!(x >= 0 && x < 1 && y >= 0 && y < 1)) return;
      const at = Math.floor(y * (height - 1)) * width + Math.floor(x * (width - 1));
      words[at] = ink;
      words[at + 1] = ink;
      words[at + width] = ink;
      words[at + width + 1] = ink;
    },
    /** A vertical line in a column of pixels, clipped to the picture, at least three pixels high. */
    stroke(column, [top, bottom], ink, wash = false) {
      const first = Math.floor(Math.max(0, Math.min(height - 4, top * height)));
      const last = Math.floor(Math.max(first + 3, Math.min(height - 1, bottom * height)));
      for (let at = first * width + column; at <= last * width + column; at += width) {
        // A wash does not cover what is drawn already.
        if (!wash || words[at] === 0) words[at] = ink;
      }
    },
  };
}

/** A colour as one number, for `pixels`. @param {number[]} rgb */
export const inkOf = ([red, green, blue], alpha = 255) =>
  ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
