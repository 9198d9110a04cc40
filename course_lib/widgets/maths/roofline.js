// What attention of one head costs: see the last part of course_lib.tiled_attention.

/** Operations of the two products. */
export const attentionFlops = (queries, keys, d) => 4 * queries * keys * d;

/** Bytes to and from memory, one operator after the other. */
export const naiveBytes = (queries, keys, d, bytesEach) =>
  bytesEach * (2 * queries * d + 2 * keys * d + 4 * queries * keys);

/** Bytes to and from memory in tiles: each tile of queries reads all keys and values. */
export const tiledBytes = (queries, keys, d, queryTile, bytesEach) =>
  bytesEach * (2 * queries * d + 2 * Math.ceil(queries / queryTile) * keys * d);

/** Bytes where keys are shared out in parts, whose reports are written and read in float32. */
export const decodingBytes = (queries, keys, d, parts, bytesEach) =>
  bytesEach * ((1 + parts) * queries * d + 2 * keys * d) + 8 * parts * queries * (d + 2);

/** Bytes that a tile of queries computes with, and those that one multiprocessor of an H100 has. */
export const registerBytes = (d, queryTile, keyTile) => 4 * queryTile * (keyTile + d + 2);
export const REGISTERS = 256 * 1024;

/** The most operations a second of a program that makes `intensity` of them for each byte. */
export const roof = (intensity, { peak, bandwidth }) => Math.min(peak, intensity * bandwidth);
