import { atomFeatures, without } from "./molecule.js";
import { upTo } from "./numerics.js";
import { affine, packedRows } from "./transformer.js";

const ORDERS = 4;
const ATOMS = 10; // by which course_lib.molecule_network divides the sum over atoms

const rectified = (x) => x.map((entry) => Math.max(0, entry));

/**
 * The network that travelled, in the order of `named_parameters()` in Python.
 * @param {{ features: number, d: number, layers: number, mean: number, scale: number }} facts
 * @param {any} packed
 */
export function unpackNetwork({ features, d, layers, ...unit }, packed) {
  const row = packedRows(packed);
  const linear = (rows, columns) => {
    const weight = new Float64Array(rows * columns);
    for (const i of upTo(rows)) weight.set(row(columns), i * columns);
    return weight;
  };
  const map = (rows, columns) => ({ weight: linear(rows, columns), bias: row(rows) });
  return {
    ...unit,
    embed: map(d, features),
    layers: upTo(layers).map(() => ({
      own: map(d, d),
      neighbours: map(d, d),
      bond: linear(d, ORDERS),
    })),
    readout: [map(d, 2 * d), map(1, d)],
  };
}

/** h + ReLU(W₁h + b₁ + Σ (W₂hᵥ + b₂) ⊙ B eᵥᵤ), for each atom. */
function afterLayer(h, { own, neighbours, bond }, bonds) {
  const said = h.map((row) => affine(neighbours, row));
  const heard = h.map((row) => affine(own, row));
  const tell = (source, target, order) => {
    for (let k = 0; k < said[source].length; k += 1) {
      heard[target][k] += said[source][k] * bond[k * ORDERS + order - 1];
    }
  };
  for (const [i, j, order] of bonds) {
    tell(i, j, order);
    tell(j, i, order);
  }
  return h.map((row, i) => row.map((entry, k) => entry + Math.max(0, heard[i][k])));
}

/**
 * The logarithm of the solubility that a network expects of a molecule.
 * @param {any} network
 * @param {import("./molecule.js").Drawing} drawing
 */
export function answer({ mean, scale, embed, layers, readout: [first, second] }, drawing) {
  let h = atomFeatures(drawing).map((x) => affine(embed, x));
  for (const layer of layers) h = afterLayer(h, layer, drawing.bonds);
  const sum = h[0].map((_, k) => h.reduce((total, row) => total + row[k], 0));
  const pooled = Float64Array.from([...sum.map((s) => s / ATOMS), ...sum.map((s) => s / h.length)]);
  return mean + scale * affine(second, rectified(affine(first, pooled)))[0];
}

/**
 * What each atom adds: the answer less that without the atom, as a chemist would rub it out.
 * @param {any} network
 * @param {import("./molecule.js").Drawing} drawing
 */
export function contributions(network, drawing) {
  const whole = answer(network, drawing);
  return upTo(drawing.element.length).map((i) => whole - answer(network, without(drawing, i)));
}
