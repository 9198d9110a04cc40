// A translator: an encoder reads words, a decoder writes pieces of a word and looks at them.
// Compared with course_lib.models.words.number_words.

import { ENGLISH, GERMAN } from "./number_words.js";
import { mean, ranking } from "./numerics.js";
import {
  affine,
  embedded,
  emptyMemory,
  partsOf,
  throughBlocks,
  throughLayers,
  unpackTransformer,
} from "./transformer.js";

/** Seven pieces, and the mark that ends the number. */
const LONGEST = 8;

/** Unpacks an EncoderDecoder from English to German, in the order of its parameters. */
export function unpackTranslator({ weights, ...facts }) {
  const parts = partsOf(weights);
  const encoder = unpackTransformer({ ...facts, vocabulary: ENGLISH.length }, parts);
  return { encoder, decoder: unpackTransformer({ ...facts, cross: true }, parts) };
}

/**
 * Writes the most probable piece each time, until the mark 0 ends the number or it is too long. Gives
 * the pieces, the mark too, and for each how much was looked at each word, the mean of all heads.
 */
export function translate({ encoder, decoder }, words) {
  const read = words.map((word) => ENGLISH.indexOf(word));
  const { tokens } = throughLayers(encoder, emptyMemory(encoder), embedded(encoder, read));
  const memory = emptyMemory(decoder).map((kept, layer) => {
    const { key, value } = decoder.blocks[layer].cross;
    const [keys, values] = [key, value].map((part) => tokens.map((x) => affine(part, x)));
    return { ...kept, context: { keys, values } };
  });
  const [ids, looks] = [[0], []];
  do {
    const [{ logits, attention }] = throughBlocks(decoder, memory, [ids.at(-1)]);
    const heads = attention.flat();
    looks.push(words.map((_, i) => mean(heads.map((weights) => weights[i]))));
    ids.push(ranking(logits)[0]);
  } while (ids.at(-1) && ids.length <= LONGEST);
  return { pieces: ids.slice(1).map((id) => GERMAN[id]), looks };
}
