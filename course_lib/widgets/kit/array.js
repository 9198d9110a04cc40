// Codecs: how the value of a trait is read from the model and written back.

/**
 * @template T
 * @typedef {{ decode: (travelled: any) => T, encode: (value: T) => any }} Codec
 */

/** @param {string} base64 @returns {Uint8Array} */
export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

const DIGITS =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";

/**
 * Bytes from base85, in which five digits stand for four bytes.
 * @param {string} base85
 */
export function bytesOf85(base85) {
  const view = new DataView(new ArrayBuffer(4 * Math.ceil(base85.length / 5)));
  for (let i = 0; i < base85.length; i += 5) {
    let sum = 0;
    for (const digit of base85.slice(i, i + 5).padEnd(5, "~"))
      sum = 85 * sum + DIGITS.indexOf(digit);
    view.setUint32((4 * i) / 5, sum);
  }
  return new Uint8Array(view.buffer, 0, Math.floor((4 * base85.length) / 5));
}

/**
 * A float32 array from base64: its own bytes, or with `levels` a byte for each number, in steps of
 * 1 / `levels`. See `Array` and `Ink` in traits.py.
 * @param {{ shape: number[], base64: string, levels?: number }} encoded
 */
export function decodeArray({ shape, base64, levels }) {
  const bytes = bytesOf(base64);
  const values = levels
    ? Float32Array.from(bytes, (level) => level / levels)
    : new Float32Array(bytes.buffer);
  return { shape, values };
}

/**
 * The inverse of `decodeArray`.
 * @param {number[]} shape
 * @param {ArrayLike<number>} values
 */
export function encodeArray(shape, values) {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { shape, base64: btoa(binary) };
}

/** @param {{ shape: number[], base64: string }} encoded @returns {number[][]} */
export function decodeRows(encoded) {
  const { shape, values } = decodeArray(encoded);
  const [rows, columns] = shape;
  return Array.from({ length: rows }, (_, row) =>
    Array.from(values.subarray(row * columns, (row + 1) * columns)),
  );
}

/** Numbers, texts and lists, unchanged. @type {Codec<any>} */
export const plain = { decode: (value) => value, encode: (value) => value };

/** @type {Codec<{ shape: number[], values: Float32Array }>} */
export const array = {
  decode: decodeArray,
  encode: ({ shape, values }) => encodeArray(shape, values),
};

/** A list of numbers. @type {Codec<number[]>} */
export const vector = {
  decode: (encoded) => Array.from(decodeArray(encoded).values),
  encode: (values) => encodeArray([values.length], values),
};

/** A list of rows of numbers. @type {Codec<number[][]>} */
export const rows = {
  decode: decodeRows,
  encode: (values) => encodeArray([values.length, values[0].length], values.flat()),
};
