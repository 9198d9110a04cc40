/** A float32 array that travels as base64, as `{shape, values}`. See `Array` in traits.py. */
export function decodeArray({ shape, base64 }) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return { shape, values: new Float32Array(bytes.buffer) };
}

/** A two-dimensional array as a list of rows. */
export function decodeRows(encoded) {
  const { shape, values } = decodeArray(encoded);
  const [rows, columns] = shape;
  return Array.from({ length: rows }, (_, row) =>
    Array.from(values.subarray(row * columns, (row + 1) * columns)),
  );
}

/** The inverse of `decodeArray`, for a widget that writes an array back to its model. */
export function encodeArray(shape, values) {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { shape, base64: btoa(binary) };
}
