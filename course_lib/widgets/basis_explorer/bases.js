// What BasisExplorer shows, from its traits: bases at the points of the picture, and what they blend.

import { bytesOf } from "../kit/array.js";
import { between, even, hats, readOff, shared, softmaxBasis, target } from "../maths/basis.js";
import { blended, fieldWeights, queriesOf, sensed, unpackField } from "../maths/neural_field.js";
import { clamp, dot, upTo } from "../maths/numerics.js";
import { pluggedAt, relativeError, solveRod, warmedAt } from "../maths/rod.js";

export const GRID = even(125);
const FINE = even(249);
const SWING = Math.log(50);
/** Temperatures from the nearest node to the mean of all, in equal ratios: the best is looked for here. */
const LADDER = upTo(33).map((i) => 10 ** (i / 8 - 4));
/** What the height of a drawn curve is counted in, as in basis_explorer.py. */
const STEPS = 8192;

/** A curve drawn by hand, as it travels: two bytes a place. @type {import("../kit/array.js").Codec<any>} */
export const drawn = {
  decode: ({ int16 }) => Array.from(new Int16Array(bytesOf(int16).buffer), (n) => n / STEPS),
  encode: (curve) => {
    const counts = Int16Array.from(curve, (height) => Math.round(STEPS * height));
    return { int16: btoa(String.fromCharCode(...new Uint8Array(counts.buffer))) };
  },
};

/**
 * The temperature as it swings by itself: down to the nearest node, up to the mean, and back. It
 * sets out at once, and passes the ends faster than the middle.
 */
export function swung(temperature, phase) {
  const way = -Math.sin(2 * Math.PI * phase);
  return clamp(temperature * Math.exp((SWING * way * (1 + Math.abs(way))) / 2), 1e-5, 10);
}

const ascending = (numbers) => [...numbers].sort((a, b) => a - b);
const blend = (rows, values) => rows.map((row) => dot(row, values));

/** Hats and softmax for nodes: at the points, at the query, and what they make of values. */
function bothBases({ query, warmth }, { memo }, points, nodes, values) {
  const basis = (name, make, inputs) => {
    const rows = memo(`${name} rows`, [points, nodes, ...inputs], () => make(points));
    const [weights] = make([query]);
    const u = memo(`${name} u`, [rows, values], () => blend(rows, values));
    return { name, rows, weights, u, here: dot(weights, values) };
  };
  return [
    basis("hats", (at) => hats(at, nodes), []),
    basis("softmax", (at) => softmaxBasis(at, nodes, warmth), [warmth]),
  ];
}

/** Where two lines are farthest apart, and how far. */
function farthestApart(one, other) {
  const gaps = one.map((y, i) => Math.abs(y - other[i]));
  const gap = Math.max(...gaps);
  return { gap, at: gaps.indexOf(gap) };
}

/** The temperature, of some and the one there is, at which a softmax comes nearest, and how near. */
function bestWarmth(xs, nodes, values, wanted) {
  const tried = LADDER.map((warmth) => {
    const u = blend(softmaxBasis(xs, nodes, warmth), values);
    return { warmth, ...farthestApart(u, wanted) };
  });
  return tried.reduce((best, one) => (one.gap < best.gap ? one : best));
}

function ofNodes(now, ui) {
  const nodes = ui.memo("nodes", [now.points], () => now.points.map(([x]) => x));
  const values = ui.memo("values", [now.points], () => now.points.map(([, y]) => y));
  // With the nodes themselves among them, the straight lines of the picture bend where hats do.
  const xs = ui.memo("xs", [nodes], () => ascending(new Set([...FINE, ...nodes])));
  const wanted = ui.memo("wanted", [xs], () => xs.map(target));
  const bases = bothBases(now, ui, xs, nodes, values);
  const farthest = bases.map(({ name, u }) =>
    ui.memo(`${name} farthest`, [u, wanted], () => farthestApart(u, wanted)),
  );
  const inputs = [xs, nodes, values, wanted];
  const tried = ui.memo("best", inputs, () => bestWarmth(xs, nodes, values, wanted));
  const here = { warmth: now.warmth, ...farthest[1] };
  return { nodes, values, xs, wanted, bases, farthest, best: here.gap < tried.gap ? here : tried };
}

function ofRod(now, ui) {
  const { facts, weights: packed, log_conductivity, load, head, query } = now;
  const { memo } = ui;
  const field = memo("field", [facts, packed], () => unpackField(facts, packed));
  const nodes = memo("sensors", [facts], () => even(facts.sensors));
  const asked = memo("asked", [field], () => queriesOf(field, GRID));
  const drawn = [log_conductivity, load];
  const told = memo("told", drawn, () => {
    const z = nodes.map((x) => drawn.map((curve) => between(x, GRID, curve)));
    const { keys, values } = sensed(field, nodes, z);
    const weights = fieldWeights(field, asked, keys);
    const [k, f] = [0, 1].map((i) => z.map((row) => row[i]));
    return {
      ...{ keys, values, weights, u: blended(weights, values) },
      nodal: solveRod(nodes, nodes, k, f),
      exact: solveRod(FINE, GRID, log_conductivity, load),
    };
  });
  const wanted = memo("exact", [told], () => told.exact.filter((_, i) => i % 2 === 0));
  const at = memo("at", [told, query], () =>
    fieldWeights(field, queriesOf(field, [query]), told.keys),
  );
  const learned = {
    name: "learned",
    rows: told.weights[head],
    weights: at[head][0],
    u: told.u,
    here: blended(at, told.values)[0],
  };
  const bases = [...bothBases(now, ui, GRID, nodes, told.nodal), learned];
  const errors = bases.map(({ name, u }) =>
    memo(`${name} error`, [u, wanted], () => relativeError(u, wanted)),
  );
  return { nodes, xs: GRID, wanted, bases, errors };
}

/**
 * The heat with a flame that has gone a share of its way, from beyond one end to beyond the other,
 * or, after the flame, the conductivity with a plug on the same way; and how warm the rod gets there.
 */
function lit({ flame, log_conductivity, load }, { memo }) {
  const plugged = flame > 1;
  const placeOf = (share) => 1.3 * share - 0.15;
  const at = (share) => {
    const place = placeOf(share);
    if (plugged) return { log_conductivity: pluggedAt(log_conductivity, GRID, place), load };
    return { log_conductivity, load: warmedAt(load, GRID, place) };
  };
  const warmest = memo("warmest", [plugged, log_conductivity, load], () =>
    Math.max(
      ...even(9).flatMap((share) => {
        const rod = at(share);
        return solveRod(GRID, GRID, rod.log_conductivity, rod.load);
      }),
    ),
  );
  const way = plugged ? flame - 1 : flame;
  // The scale is there for the first, and goes over to that of the second, and to none.
  const guest = plugged ? ["log_conductivity", "plug"] : ["load", "flame"];
  return {
    ...at(way),
    guest: [...guest, placeOf(way)],
    warmest: warmest * Math.min(1, 5 - 5 * way, plugged ? 5 * way : 1),
  };
}

/** @param {any} now @param {any} ui */
export function derive(now, ui) {
  const warmth = swung(now.temperature, now.phase);
  const burning = now.flame ? lit(now, ui) : {};
  const state = { ...now, warmth, ...burning };
  const found = now.mode === "rod" ? ofRod(state, ui) : ofNodes(state, ui);
  const counts = found.bases.map(({ weights }) => shared(weights));
  return { warmth, counts, ...burning, ...found };
}

/** As many even nodes, with their values read off the dotted curve. @param {number} count */
export const evenNodes = (count) => readOff(even(count));
