// The CrossAttentionField of course_lib.basis.field: u(x | z) = Σ αₕᵢ(x | z) cₕᵢ(z).

import { dot, softmax } from "./numerics.js";
import { affine, emptyMemory, partsOf, sinusoids, think, throughLayers } from "./transformer.js";

/** Unpacks the field, whose parameters come in the order of `named_parameters()` in Python. */
export function unpackField(facts, packed) {
  const { d_model: d, d_hidden: hidden, heads, layers } = facts;
  const { linear, norm, block } = partsOf(packed);
  return {
    ...facts,
    norm: "pre",
    measured: linear(d, 2),
    blocks: Array.from({ length: layers }, () => block(d, hidden)),
    last: norm(d),
    point: { expand: linear(hidden, d), contract: linear(d, hidden) },
    query: linear(d, d),
    key: linear(d, d),
    value: linear(heads, d),
  };
}

const placeOf = ({ d_model, finest }, x) => sinusoids(finest * x, d_model, finest);

/** The query of each point, which does not depend on the sensors. @param {any} field @param {number[]} points */
export const queriesOf = (field, points) =>
  points.map((x) => affine(field.query, think(field.point, placeOf(field, x))));

/**
 * Keys and values of the sensors after the encoder: keys by sensor, `values` by head and sensor.
 * @param {any} field
 * @param {number[]} places
 * @param {number[][]} z
 */
export function sensed(field, places, z) {
  const vectors = places.map((place, i) => {
    const shift = placeOf(field, place);
    return affine(field.measured, z[i]).map((entry, k) => entry + shift[k]);
  });
  const { tokens } = throughLayers(field, emptyMemory(field), vectors);
  const told = tokens.map((token) => affine(field.value, token));
  return {
    keys: tokens.map((token) => affine(field.key, token)),
    values: Array.from({ length: field.heads }, (_, head) => told.map((row) => row[head])),
  };
}

/** The learned basis: heads by points by sensors. */
export function fieldWeights({ heads }, queries, keys) {
  const d = keys[0].length / heads;
  return Array.from({ length: heads }, (_, head) => {
    const part = (x) => x.subarray(head * d, (head + 1) * d);
    const offered = keys.map(part);
    return queries.map((query) => {
      const asked = part(query);
      return softmax(offered.map((key) => dot(asked, key) / Math.sqrt(d)));
    });
  });
}

/** The sum of the values with these weights over all heads: a number for each point. */
export const blended = (weights, values) =>
  weights[0].map((_, point) =>
    weights.reduce((sum, rows, head) => sum + dot(rows[point], values[head]), 0),
  );
