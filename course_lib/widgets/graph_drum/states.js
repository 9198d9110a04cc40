// What the traits of GraphDrum come to: the start, and where each law has led it.

import { decodeRows, plain } from "../kit/array.js";
import {
  energyAt,
  inModes,
  laplacianModes,
  lifted,
  plucked,
  random,
  stateAt,
  stirred,
} from "../maths/graph_dynamics.js";
import { upTo } from "../maths/numerics.js";
import { sceneOf } from "./picture.js";

const SAMPLES = 240;
/** Of the slowest mode, until the clock stops. */
const PERIODS = 3;

/** @type {{ law: "heat" | "wave" | "bracket", title: string, plainly: string, ink: string,
 *   dash: string }[]} heat's line shows between the dashes of the bracket's, which may cover it;
 * no ink is that of a height, for currents are drawn among heights */
export const LAWS = [
  { law: "heat", title: "Heat", plainly: "flows from high to low", ink: "series-3", dash: "" },
  { law: "wave", title: "Wave", plainly: "springs pull back", ink: "series-7", dash: "" },
  {
    ...{ law: "bracket", title: "Double bracket", plainly: "springs pull, and it sinks" },
    ...{ ink: "series-2", dash: "7 5" },
  },
];

/** Of all energy: curves that are nowhere farther apart lie under each other. */
const ALIKE = 0.03;

/** Graphs, as Python sends them. */
export const graphs = {
  encode: plain.encode,
  decode: (list) => list.map((spec) => ({ ...spec, places: decodeRows(spec.places) })),
};

/** The graph that is chosen. @param {any} now */
export const specOf = ({ graphs, graph }) => graphs.find(({ name }) => name === graph);

function heightsOf({ places, edges }, modes, { start, node, height, mode, seed }) {
  if (start === "mode") return lifted(modes.nodes[mode]);
  if (start === "random") return random(places.length, seed);
  return plucked(places.length, edges, node, height);
}

/** The energies of a law at moments from the start to the end, as shares of `unit`. */
function curve(law, rates, begun, end, unit) {
  const moments = upTo(SAMPLES + 1).map((i) => energyAt(law, rates, begun, (i * end) / SAMPLES));
  return { nodes: moments.map((e) => e.nodes / unit), whole: moments.map((e) => e.whole / unit) };
}

/** What GraphDrum shows, from its traits and its local state. @param {any} now @param {any} ui */
export function derive(now, { memo }) {
  const { graph, stiffness, start, height, seed, stir } = now;
  const spec = specOf(now);
  const count = spec.places.length;
  const [node, mode] = [now.node, now.mode].map((i) => Math.min(i, count - 1));
  const scene = memo(`scene ${graph}`, [spec], () => sceneOf(spec));
  const modes = memo(`modes ${graph}`, [spec], () => laplacianModes(count, spec.edges));
  const rates = memo("rates", [modes, stiffness], () => modes.values.map((v) => stiffness * v));
  const heights = memo("heights", [modes, start, node, height, mode, seed], () =>
    heightsOf(spec, modes, { start, node, height, mode, seed }),
  );
  const currents = memo("currents", [spec, stir], () => stirred(spec.places, spec.edges, stir));
  const begun = memo("begun", [heights, currents], () => inModes(modes, heights, currents));
  const slowest = rates.find((rate) => rate > 0);
  const end = slowest ? (PERIODS * 2 * Math.PI) / Math.sqrt(slowest) : 1;
  const time = Math.min(now.time, end);
  // A drum that lies flat has no energy to be shared.
  const unit = energyAt("wave", rates, begun, 0).whole || 1;
  const drums = LAWS.map((one) => ({
    ...one,
    ...memo(`state ${one.law}`, [begun, rates, time], () => ({
      state: stateAt(one.law, modes, rates, begun, time),
      energy: energyAt(one.law, rates, begun, time),
    })),
    curve: memo(`curve ${one.law}`, [begun, rates], () => curve(one.law, rates, begun, end, unit)),
  }));
  const [heat, , bracket] = drums.map(({ curve }) => curve.whole);
  const apart = heat.map((share, i) => Math.abs(share - bracket[i]));
  const alike = Math.max(...apart) < ALIKE;
  return { spec, count, node, mode, scene, heights, rates, end, time, unit, drums, alike };
}
