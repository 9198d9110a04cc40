import { plus, upTo } from "./numerics.js";
import { affine, attend, gelu, layerNorm, partsOf } from "./transformer.js";

/**
 * Unpacks the model, whose parameters come in the order of `named_parameters()` in Python.
 * @param {any} facts
 * @param {any} packed
 */
export function unpackParticleTransformer(facts, packed) {
  const { matrix, linear, norm } = partsOf(packed);
  const { d_model: d, d_pair: pair, heads, standard, pairs } = facts;
  const block = () => ({
    norm: norm(d),
    query: linear(d, d),
    key: linear(d, d),
    value: linear(d, d),
    output: linear(d, d),
    attended: norm(d),
    before: norm(d),
    expand: linear(4 * d, d),
    within: norm(4 * d),
    contract: linear(d, 4 * d),
  });
  const features = standard.mean.length;
  return {
    ...{ heads, standard, pairs },
    token: matrix(1, d),
    blocks: upTo(facts.layers).map(block),
    classBlocks: upTo(facts.class_layers).map(block),
    embed: {
      before: norm(features),
      expand: linear(2 * d, features),
      within: norm(2 * d),
      contract: linear(d, 2 * d),
    },
    embedPairs: [linear(pair, pairs.mean.length), linear(pair, pair), linear(heads, pair)],
    read: { norm: norm(d), linear: linear(facts.classes.length, d) },
  };
}

/** (x − μ) / σ */
const standardized = ({ mean, scale }, x) => x.map((entry, i) => (entry - mean[i]) / scale[i]);

/** An MLP with two norms: W₂ LN(GELU(W₁ LN(x) + b₁)) + b₂ */
const bent = ({ before, expand, within, contract }, x) =>
  affine(contract, layerNorm(affine(expand, layerNorm(x, before)).map(gelu), within));

/**
 * What the features of each two particles add to the scores, by particle, head and other particle.
 * Of two particles both orders get the same, so it is computed once.
 * @param {any} model
 * @param {number[][][]} pairs
 */
export function pairBias({ pairs: unit, embedPairs: [first, second, last], heads }, pairs) {
  const of = (features) => {
    const hidden = affine(first, standardized(unit, features)).map(gelu);
    return affine(last, affine(second, hidden).map(gelu));
  };
  const lower = pairs.map((row, i) => row.slice(0, i + 1).map(of));
  const at = (i, j, head) => lower[Math.max(i, j)][Math.min(i, j)][head];
  return pairs.map((row, i) => upTo(heads).map((head) => row.map((_, j) => at(i, j, head))));
}

/** The bias of the particles that are there. @param {number[]} there */
export const biasAmong = (bias, there) =>
  there.map((i) => bias[i].map((row) => there.map((j) => row[j])));

/** A particle, or the class token, after a block in which it attends to others. */
function onward(block, x, blended) {
  const looked = plus(x, layerNorm(affine(block.output, blended), block.attended));
  return plus(looked, bent(block, looked));
}

/** Keys and values of the attended vectors. */
const seenIn = (block, seen) =>
  [block.key, block.value].map((part) => seen.map((x) => affine(part, x)));

/**
 * The logits of a jet, and where each particle looked, by layer, particle and head.
 * @param {any} model
 * @param {number[][]} features of each particle
 * @param {ArrayLike<number>[][]} bias
 */
export function answer({ standard, embed, blocks, classBlocks, heads, ...model }, features, bias) {
  let particles = features.map((x) =>
    bent(embed, Float64Array.from(standardized(standard, x))).map(gelu),
  );
  const attention = blocks.map((block) => {
    const seen = particles.map((x) => layerNorm(x, block.norm));
    const [keys, values] = seenIn(block, seen);
    const looked = seen.map((x, i) => attend(affine(block.query, x), keys, values, heads, bias[i]));
    particles = particles.map((x, i) => onward(block, x, looked[i].blended));
    return looked.map(({ weights }) => weights);
  });
  let { token } = model;
  for (const block of classBlocks) {
    const seen = [token, ...particles].map((x) => layerNorm(x, block.norm));
    const { blended } = attend(affine(block.query, token), ...seenIn(block, seen), heads);
    token = onward(block, token, blended);
  }
  const { norm, linear } = model.read;
  return { logits: Array.from(affine(linear, layerNorm(token, norm))), attention };
}
