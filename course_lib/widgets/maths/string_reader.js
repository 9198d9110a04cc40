// A network of attention alone that reads letters. Compared with course_lib.models.words.induction.

import { softmax } from "./numerics.js";
import { affine, attend, partsOf } from "./transformer.js";

/** Unpacks a StringReader, in the order of its parameters. */
export function unpackReader({ letters, tokens, d, heads, layers, weights }) {
  const { matrix, linear } = partsOf(weights);
  const square = () => ({ weight: matrix(d, d) });
  const [letter, place] = [matrix(letters, d), matrix(tokens, d)];
  const stack = Array.from({ length: layers }, () => ({
    ...{ query: square(), key: square(), value: square(), output: square() },
  }));
  return { d, heads, tokens, letter, place, layers: stack, next: linear(letters, d) };
}

/**
 * What the reader expects after each letter, and by layer, head and query its weights. The heads of
 * one `layer` may have another `temperature`: the guesses follow, the weights are those before it.
 */
export function readLetters(reader, ids, { layer, temperature } = { layer: 0, temperature: 1 }) {
  const { d, heads, letter, place, next } = reader;
  let x = ids.map((id, t) =>
    letter.slice(id * d, (id + 1) * d).map((entry, k) => entry + place[t * d + k]),
  );
  const attention = reader.layers.map(({ query, key, value, output }, at) => {
    const [keys, values] = [key, value].map((part) => x.map((token) => affine(part, token)));
    const looks = (heat) =>
      x.map((token, t) => {
        const asked = affine(query, token).map((entry) => entry / heat);
        return attend(asked, keys.slice(0, t + 1), values, heads);
      });
    const plain = looks(1);
    const used = at === layer ? looks(temperature) : plain;
    x = x.map((token, t) => {
      const added = affine(output, used[t].blended);
      return token.map((entry, k) => entry + added[k]);
    });
    return plain.map(({ weights }) => weights);
  });
  return { attention, guesses: x.map((token) => softmax(Array.from(affine(next, token)))) };
}

/** Weights by layer, head, query and key, zero for what comes later. */
export function weightsOf(attention, heads) {
  const count = attention[0].length;
  const values = new Float32Array(attention.length * heads * count * count);
  attention.forEach((queries, layer) => {
    queries.forEach((rows, query) => {
      rows.forEach((row, head) => {
        values.set(row, ((layer * heads + head) * count + query) * count);
      });
    });
  });
  return { shape: [attention.length, heads, count, count], values };
}
