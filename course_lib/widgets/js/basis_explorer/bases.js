// What BasisExplorer shows, from its traits: bases at the points of the picture, and what they blend.

import { between, even, hats, readOff, shared, softmaxBasis, target } from "../maths/basis.js";
import { blended, fieldWeights, queriesOf, sensed, unpackField } from "../maths/neural_field.js";
import { dot } from "../maths/numerics.js";
import { relativeError, solveRod } from "../maths/rod.js";

export const GRID = even(125);
const FINE = even(249);
const SWING = Math.log(50);

/** The temperature as it swings by itself: up to the mean, down to the nearest node, and back. */
const swung = (temperature, phase) =>
  Math.min(10, Math.max(1e-5, temperature * Math.exp(SWING * Math.sin(2 * Math.PI * phase))));

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
  return { nodes, values, xs, wanted, bases, farthest };
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

/** @param {any} now @param {any} ui */
export function derive(now, ui) {
  const warmth = swung(now.temperature, now.phase);
  const state = { ...now, warmth };
  const found = now.mode === "rod" ? ofRod(state, ui) : ofNodes(state, ui);
  const counts = found.bases.map(({ weights }) => shared(weights));
  return { warmth, counts, ...found };
}

/** As many even nodes, with their values read off the dotted curve. @param {number} count */
export const evenNodes = (count) => readOff(even(count));
