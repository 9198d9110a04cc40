// What follows from the state.

import { decodeRows } from "../kit/array.js";
import {
  directionOf,
  flightOf,
  fourMomentum,
  fromAxis,
  invariantMass,
  pairFeatures,
  pairOf,
  particleFeatures,
  total,
} from "../maths/jets.js";
import { mean, ranking, softmax, upTo } from "../maths/numerics.js";
import {
  answer,
  biasAmong,
  pairBias,
  unpackParticleTransformer,
} from "../maths/particle_transformer.js";
import { fieldOf } from "./picture.js";
import { likeliest } from "./words.js";

const USUAL_WIDTH = 350;
/** Of how many particles the attention is summed up. */
export const FEW = 8;

/** A jet as it travels, unpacked: its particles, where each stands in the picture, its pairs. */
function unpackedJet({ numbers, kind, charge, label, size }, model) {
  const particles = decodeRows(numbers).map(([pt, eta, phi, d0, dz], i) => ({
    ...{ pt, eta, phi, d0, dz },
    ...{ kind: kind[i], charge: charge[i] },
  }));
  const momenta = particles.map(fourMomentum);
  const axis = directionOf(total(momenta));
  return {
    ...{ particles, momenta, label, size, axis },
    places: particles.map((particle) => fromAxis(particle, axis)),
    flights: momenta.map(flightOf),
    bias: pairBias(model, pairFeatures(momenta)),
  };
}

/** What the network says of the particles that are there, and where each of them looks. */
function said(model, { particles, momenta, bias }, there) {
  if (!there.length) return { probabilities: null, attention: [] };
  const some = [particles, momenta].map((all) => there.map((i) => all[i]));
  const features = particleFeatures(some[0], some[1]);
  const { logits, attention } = answer(model, features, biasAmong(bias, there));
  return { probabilities: softmax(logits), attention };
}

/** How much a particle looks at each that is there, in a head or in the mean of all. */
function looks(heads, head) {
  if (head >= 0) return heads[head];
  return heads[0].map((_, t) => mean(heads.map((weights) => weights[t])));
}

/** The links of a particle, the strongest first: to whom, how strong, what the two share. */
function linksOf({ attention, there, layer, head, at, unpacked }) {
  const row = there.indexOf(at);
  if (row < 0) return [];
  const weights = looks(attention[layer][row], head);
  const { flights } = unpacked;
  return ranking(weights).map((t) => ({
    ...{ to: there[t], weight: weights[t] },
    pair: pairOf(flights[at], flights[there[t]]),
  }));
}

/**
 * How much of its attention a particle gives to the nearest, the farthest and the hardest of the
 * others, and what as many would have if it looked at all alike.
 * @param {any[]} links of the particle `at`
 * @param {number} at
 */
export function nearFarAndHard(links, at) {
  const others = links.filter(({ to }) => to !== at);
  const many = Math.min(FEW, Math.ceil(others.length / 2));
  if (!many) return null;
  const sum = (order) => {
    const chosen = order.slice(0, many);
    return chosen.reduce((total, { weight }) => total + weight, 0);
  };
  const byDistance = others.toSorted((a, b) => a.pair[0] - b.pair[0]);
  return {
    ...{ many, chance: many / links.length },
    nearest: sum(byDistance),
    farthest: sum(byDistance.toReversed()),
    hardest: sum(others.toSorted((a, b) => a.to - b.to)),
  };
}

/**
 * What reader and network have said of each jet that the reader has opened. The network judges a
 * jet as it came, whatever the reader has taken away.
 */
function judgedOf({ facts, jets, guesses }, memo, model) {
  const known = memo("verdicts", [facts, jets, model], () => new Map());
  const network = (i) => {
    if (!known.has(i)) {
      const jet = unpackedJet(jets[i], model);
      known.set(i, likeliest(said(model, jet, upTo(jet.particles.length)).probabilities));
    }
    return known.get(i);
  };
  return Object.entries(guesses).map(([name, [guess]]) => {
    const jet = Number(name);
    return { jet, guess, truth: jets[jet].label, network: network(jet) };
  });
}

export function derive(now, ui) {
  const { facts, weights, jets, jet, kept, gone, hovered, guesses } = now;
  const { memo } = ui;
  const model = memo("model", [facts, weights], () => unpackParticleTransformer(facts, weights));
  const unpacked = memo("jet", [model, jets, jet], () => unpackedJet(jets[jet], model));
  const count = unpacked.particles.length;
  const there = memo("there", [unpacked, kept, gone], () =>
    upTo(kept).filter((i) => !gone.includes(i)),
  );
  const answered = memo("said", [there], () => said(model, unpacked, there));
  const at = hovered >= 0 && hovered < count ? hovered : now.particle;
  const seen = { ...now, ...answered, unpacked, there, at };
  const links = linksOf(seen);
  return {
    ...answered,
    ...{ unpacked, count, there, at },
    ...{ links, looks: nearFarAndHard(links, at), open: jet in guesses },
    mass: there.length ? invariantMass(total(there.map((i) => unpacked.momenta[i]))) : 0,
    field: fieldOf(unpacked, ui.width("jet", USUAL_WIDTH), now),
    judged: judgedOf(now, memo, model),
  };
}
