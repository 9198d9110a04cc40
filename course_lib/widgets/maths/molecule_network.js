import { atomFeatures, without } from "./molecule.js";
import { upTo } from "./numerics.js";
import { partsOf } from "./transformer.js";

const ORDERS = 4;
const ATOMS = 10; // by which course_lib.models.molecules divides the sum over atoms

/**
 * Unpacks the model, whose parameters come in the order of `named_parameters()` in Python.
 * @param {{ features: number, d: number, layers: number, mean: number, scale: number }} facts
 * @param {any} packed
 */
export function unpackNetwork({ features, d, layers, ...unit }, packed) {
  const { matrix, linear } = partsOf(packed);
  return {
    ...unit,
    embed: linear(d, features),
    layers: upTo(layers).map(() => ({
      own: linear(d, d),
      neighbours: linear(d, d),
      bond: matrix(d, ORDERS),
    })),
    readout: [linear(d, 2 * d), linear(1, d)],
  };
}

/** Wx + b for each row of x; the rows stand one after another. */
function mapped({ weight, bias }, x) {
  const [rows, columns] = [bias.length, weight.length / bias.length];
  const result = new Float64Array((x.length / columns) * rows);
  for (let at = 0, start = 0; at < result.length; start += columns) {
    for (let row = 0; row < rows; row += 1, at += 1) {
      let sum = bias[row];
      for (let i = 0, w = row * columns; i < columns; i += 1) sum += weight[w + i] * x[start + i];
      result[at] = sum;
    }
  }
  return result;
}

/** h + ReLU(W₁h + b₁ + Σ (W₂hᵥ + b₂) ⊙ B eᵥᵤ), for each atom. */
function afterLayer(h, { own, neighbours, bond }, bonds) {
  const d = own.bias.length;
  const [heard, said] = [mapped(own, h), mapped(neighbours, h)];
  const tell = (source, target, order) => {
    for (let k = 0; k < d; k += 1) {
      heard[target * d + k] += said[source * d + k] * bond[k * ORDERS + order - 1];
    }
  };
  for (const [i, j, order] of bonds) {
    tell(i, j, order);
    tell(j, i, order);
  }
  for (let at = 0; at < heard.length; at += 1) heard[at] = h[at] + Math.max(0, heard[at]);
  return heard;
}

/**
 * The logarithm of the solubility that a network expects of a molecule.
 * @param {any} network
 * @param {import("./molecule.js").Drawing} drawing
 */
export function answer({ mean, scale, embed, layers, readout: [first, second] }, drawing) {
  const [atoms, d] = [drawing.element.length, embed.bias.length];
  let h = mapped(embed, Float64Array.from(atomFeatures(drawing).flat()));
  for (const layer of layers) h = afterLayer(h, layer, drawing.bonds);
  const pooled = new Float64Array(2 * d);
  for (let at = 0; at < h.length; at += 1) {
    pooled[at % d] += h[at] / ATOMS;
    pooled[d + (at % d)] += h[at] / atoms;
  }
  const hidden = mapped(first, pooled).map((entry) => Math.max(0, entry));
  return mean + scale * mapped(second, hidden)[0];
}

/**
 * The contribution of each atom: the answer minus that without the atom.
 * @param {any} network
 * @param {import("./molecule.js").Drawing} drawing
 */
export function contributions(network, drawing) {
  const whole = answer(network, drawing);
  return upTo(drawing.element.length).map((i) => whole - answer(network, without(drawing, i)));
}
