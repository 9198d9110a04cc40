import { bytesOf85 } from "../kit/array.js";
import { softmax } from "./numerics.js";

/** At least as many as the series has terms; a table avoids many divisions. */
const RATIOS = Float64Array.from({ length: 256 }, (_, n) => 2 / (2 * n + 1));

/** (2/√π) ∫₀ˣ e^(−t²) dt, by a series of positive terms without cancellation. */
export function erf(x) {
  const z = Math.abs(x);
  if (z > 6) return Math.sign(x);
  const square = z * z;
  let term = z;
  let total = z;
  for (let n = 1; term > 1e-17 * total; n += 1) {
    term *= square * RATIOS[n];
    total += term;
  }
  return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * total;
}

/** x Φ(x), with the normal distribution function Φ. */
export function gelu(x) {
  return (x / 2) * (1 + erf(x * Math.SQRT1_2));
}

/** Mean 0 and variance 1 over the entries of `x`, then a scale and a shift for each. */
export function layerNorm(x, { weight, bias }) {
  const mean = x.reduce((sum, entry) => sum + entry, 0) / x.length;
  const variance = x.reduce((sum, entry) => sum + (entry - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  return x.map((entry, i) => (entry - mean) * scale * weight[i] + bias[i]);
}

/** Wx + b; the rows of `weight` stand one after another. */
export function affine({ weight, bias }, x) {
  const columns = x.length;
  const result = new Float64Array(weight.length / columns);
  for (let row = 0; row < result.length; row += 1) {
    let sum = bias ? bias[row] : 0;
    for (let i = 0, at = row * columns; i < columns; i += 1, at += 1) sum += weight[at] * x[i];
    result[row] = sum;
  }
  return result;
}

/** The frequency of each pair of `d` features: base^(−2i/d). */
const frequency = (pair, d, base = 10_000) => base ** ((-2 * pair) / d);

/** Rotary position: in each head, pair i turned by the angle ωᵢ t. */
export function turned(x, heads, position) {
  const d = x.length / heads;
  const result = Float64Array.from(x);
  for (let at = 0; at < x.length; at += 2) {
    const angle = position * frequency((at % d) / 2, d);
    result[at] = x[at] * Math.cos(angle) - x[at + 1] * Math.sin(angle);
    result[at + 1] = x[at] * Math.sin(angle) + x[at + 1] * Math.cos(angle);
  }
  return result;
}

/** The sinusoids of a position: sin ω₀t, cos ω₀t, sin ω₁t, … */
export function sinusoids(position, d, base = 10_000) {
  return Array.from({ length: d }, (_, i) => {
    const angle = position * frequency(i >> 1, d, base);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/**
 * One query against all keys so far, in every head: its weights, and the values blended by them.
 * A `bias` holds for each head what is added to the score of each key.
 */
export function attend(query, keys, values, heads, bias = null) {
  const d = query.length / heads;
  const blended = new Float64Array(query.length);
  const weights = [];
  for (let from = 0; from < query.length; from += d) {
    const shift = bias?.[weights.length];
    const scores = keys.map((key, t) => {
      let score = 0;
      for (let i = from; i < from + d; i += 1) score += query[i] * key[i];
      return score / Math.sqrt(d) + (shift ? shift[t] : 0);
    });
    const row = softmax(scores);
    row.forEach((weight, t) => {
      for (let i = from; i < from + d; i += 1) blended[i] += weight * values[t][i];
    });
    weights.push(row);
  }
  return { blended, weights };
}

/**
 * Reads one row after another of a base85 text: whole numbers of `bits` bits each, a step for each
 * row. Of a row it has to be told how long it is.
 * @returns {(columns: number) => Float64Array}
 */
export function packedRows({ bits, steps, numbers }) {
  const stream = bytesOf85(numbers);
  const halves = new Uint16Array(bytesOf85(steps).buffer);
  // The upper halves of float32 numbers, whose lower halves are zero.
  const step = new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
  const middle = 2 ** (bits - 1);
  let [at, row] = [0, -1];
  return (columns) => {
    row += 1;
    return new Float64Array(columns).map(() => {
      const byte = at >> 3;
      const three = (stream[byte] << 16) | (stream[byte + 1] << 8) | stream[byte + 2];
      const count = (three >> (24 - bits - (at & 7))) & (2 * middle - 1);
      at += bits;
      return (count - middle) * step[row];
    });
  };
}

/** Reads a packed model part by part, in the order in which it was packed. */
export function partsOf(packed) {
  /** @type {(size: number) => any} */
  const vector = packedRows(packed);
  const matrix = (count, columns) => {
    const all = new Float64Array(count * columns);
    for (let row = 0; row < count; row += 1) all.set(vector(columns), row * columns);
    return all;
  };
  const linear = (count, columns) => ({ weight: matrix(count, columns), bias: vector(count) });
  const norm = (d) => ({ weight: vector(d), bias: vector(d) });
  const looking = (d) => ({
    query: linear(d, d),
    key: linear(d, d),
    value: linear(d, d),
    output: linear(d, d),
    attentionNorm: norm(d),
  });
  const block = (d, hidden, cross = false) => ({
    ...looking(d),
    ...(cross ? { cross: looking(d) } : {}),
    expand: linear(hidden, d),
    contract: linear(d, hidden),
    mlpNorm: norm(d),
  });
  return { matrix, linear, norm, block };
}

/**
 * Takes an encoder or decoder from `partsOf` its weights: token embedding, learned positions,
 * blocks, the norm after pre-norm blocks, readout. The order is that of `transformer_shapes` in
 * packed_weights.py.
 */
export function unpackTransformer(facts, { matrix, norm, block }) {
  const { vocabulary, d_model: d, d_hidden: hidden, tokens, layers, cross } = facts;
  const token = matrix(vocabulary, d);
  const learned = facts.position === "learned" ? matrix(tokens, d) : null;
  const blocks = Array.from({ length: layers }, () => block(d, hidden, cross));
  const last = facts.norm === "pre" ? norm(d) : null;
  return {
    ...facts,
    token,
    learned,
    blocks,
    last,
    readout: { weight: facts.tied ? token : matrix(vocabulary, d) },
  };
}

/** For each block a memory of keys and values, empty, for `throughBlocks` to fill. */
export const emptyMemory = ({ blocks }) => blocks.map(() => ({ keys: [], values: [] }));

/** The MLP of a block, for one token. */
export const think = ({ expand, contract }, x) => affine(contract, affine(expand, x).map(gelu));

/**
 * Vectors through all blocks, behind those in the memory. In each block every one of them looks at
 * all that came before, at itself and at the others: an encoder reads a word at once, a decoder a
 * letter at a time. In a block with cross-attention each then looks at the `context` of the memory,
 * its keys and values. Gives the vectors after the last norm, and by layer and vector where it
 * looked last.
 */
export function throughLayers(transformer, memory, vectors) {
  const { heads, position, last } = transformer;
  const start = memory[0].keys.length;
  const pre = transformer.norm === "pre";
  const turn = (x, i) => (position === "rotary" ? turned(x, heads, start + i) : x);
  const around = (tokens, norm, layer) => {
    const added = layer(pre ? tokens.map((x) => layerNorm(x, norm)) : tokens);
    const sums = tokens.map((x, i) => x.map((entry, k) => entry + added[i][k]));
    return pre ? sums : sums.map((x) => layerNorm(x, norm));
  };
  let tokens = vectors;
  const attention = transformer.blocks.map((block, layer) => {
    const { keys, values, context } = memory[layer];
    let looked;
    const look = ({ output }, queries, { keys, values }) => {
      looked = queries.map((query) => attend(query, keys, values, heads));
      return looked.map(({ blended }) => affine(output, blended));
    };
    tokens = around(tokens, block.attentionNorm, (seen) => {
      keys.push(...seen.map((x, i) => turn(affine(block.key, x), i)));
      values.push(...seen.map((x) => affine(block.value, x)));
      const queries = seen.map((x, i) => turn(affine(block.query, x), i));
      return look(block, queries, memory[layer]);
    });
    const { cross } = block;
    if (cross) {
      tokens = around(tokens, cross.attentionNorm, (seen) =>
        look(
          cross,
          seen.map((x) => affine(cross.query, x)),
          context,
        ),
      );
    }
    tokens = around(tokens, block.mlpNorm, (seen) => seen.map((x) => think(block, x)));
    return looked.map(({ weights }) => weights);
  });
  return { tokens: last ? tokens.map((x) => layerNorm(x, last)) : tokens, attention };
}

/** The vectors of ids, of which the first stands at the place `start`. */
export function embedded(transformer, ids, start = 0) {
  const { d_model: d, position } = transformer;
  const place = (t) => {
    if (position === "learned") return transformer.learned.subarray(t * d, (t + 1) * d);
    return position === "sinusoidal" ? sinusoids(t, d) : new Float64Array(d);
  };
  return ids.map((id, i) => {
    const shift = place(start + i);
    return transformer.token
      .slice(id * d, (id + 1) * d)
      .map((entry, k) => Math.sqrt(d) * entry + shift[k]);
  });
}

/**
 * Reads ids that stand behind those in the memory. Gives the logits of each id, and by layer and
 * head where it looked.
 */
export function throughBlocks(transformer, memory, ids) {
  const vectors = embedded(transformer, ids, memory[0].keys.length);
  const { tokens, attention } = throughLayers(transformer, memory, vectors);
  return tokens.map((x, i) => {
    const logits = Array.from(affine(transformer.readout, x));
    if (logits.every(Number.isFinite)) return { logits, attention: attention.map((r) => r[i]) };
    throw new Error("the model’s numbers are too large.");
  });
}
