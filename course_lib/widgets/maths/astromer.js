// ASTROMER as in course_lib.light_curves.astromer: what a trained model predicts for nights that it
// does not see, and how sure it is.

import { visibleOf } from "./light_curves.js";
import { mean, plus } from "./numerics.js";
import { affine, attend, layerNorm, partsOf, think } from "./transformer.js";

/** @typedef {{ middle: number, deviation: number }} Belief in magnitudes */

/**
 * Unpacks the model, whose parameters come in the order of `named_parameters()` in Python.
 * @param {any} facts
 * @param {any} packed
 */
export function unpackAstromer(facts, packed) {
  const { matrix, linear, norm, block } = partsOf(packed);
  const { d_model: d, d_hidden, layers, frequency } = facts;
  const hidden = matrix(1, d);
  const [date, light] = [linear(d, 2 * frequency.length), linear(d, 2)];
  const blocks = Array.from({ length: layers }, () => block(d, d_hidden));
  const [last, readout, doubt] = [norm(d), linear(1, d), linear(1, d)];
  return { ...facts, hidden, date, light, blocks, last, readout, doubt };
}

/** sin 2πf₁t, cos 2πf₁t, sin 2πf₂t, … */
export const timeSinusoids = (time, frequencies) =>
  frequencies.flatMap((frequency) => {
    const angle = 2 * Math.PI * frequency * time;
    return [Math.sin(angle), Math.cos(angle)];
  });

/** The token of a night: its date plus its magnitude, or plus the vector of a hidden night. */
const token = ({ date, frequency }, since, seen) =>
  plus(affine(date, timeSinusoids(since, frequency)), seen);

/**
 * Passes nights through all blocks, which attend to `memory`: the keys and values of the visible
 * nights in each layer. Without a `memory` the nights are the visible ones and make it.
 */
function throughBlocks({ blocks, heads, last }, tokens, memory) {
  const made = [];
  let nights = tokens;
  blocks.forEach((block, layer) => {
    const seen = nights.map((night) => layerNorm(night, block.attentionNorm));
    const known = memory?.[layer] ?? {
      keys: seen.map((night) => affine(block.key, night)),
      values: seen.map((night) => affine(block.value, night)),
    };
    made.push(known);
    nights = nights.map((night, i) => {
      const { blended } = attend(affine(block.query, seen[i]), known.keys, known.values, heads);
      const looked = plus(night, affine(block.output, blended));
      return plus(looked, think(block, layerNorm(looked, block.mlpNorm)));
    });
  });
  return { nights: nights.map((night) => layerNorm(night, last)), memory: made };
}

/**
 * Reads the visible nights once; returns a function that gives the expected magnitude at a time and
 * its standard deviation.
 * @param {any} model
 * @param {import("./light_curves.js").Curve} curve its time in what the model's time runs in
 * @param {number[]} hidden
 * @returns {(time: number) => Belief}
 */
export function reader(model, curve, hidden) {
  const { time, magnitude, error } = visibleOf(curve, hidden);
  const [first, middle] = [time[0], mean(magnitude)];
  const tokens = time.map((t, n) => {
    const value = [
      (magnitude[n] - middle) / model.brightness,
      Math.log(error[n] / model.precision),
    ];
    return token(model, t - first, affine(model.light, value));
  });
  const { memory } = throughBlocks(model, tokens, null);
  return (when) => {
    const { nights } = throughBlocks(model, [token(model, when - first, model.hidden)], memory);
    return {
      middle: middle + model.brightness * affine(model.readout, nights[0])[0],
      deviation: model.brightness * Math.exp(affine(model.doubt, nights[0])[0]),
    };
  };
}

/** What the model predicts at times whose magnitudes it does not see. */
export const beliefAt = (model, curve, hidden, times) => times.map(reader(model, curve, hidden));
