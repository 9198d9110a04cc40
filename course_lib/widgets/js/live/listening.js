// A node listens through rounds of message passing: whose voice reaches it, and how much of it.

import { liveFigure } from "../../live_figure.js";
import { dot, ground, handle, line, panel, rule } from "../charts.js";
import { textWidth } from "../lettering.js";
import { distances } from "../maths/graph_dynamics.js";
import { apart, graphOf, sharesHeard } from "../maths/listening.js";
import { clamp, mean, ranking, upTo } from "../maths/numerics.js";
import { quantity } from "../text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const [MOST, HEIGHT, LEAST, TYPE] = [30, 270, 1e-6, 12];
const HEARD = "var(--cw-accent)";
const farthestOf = (far) => far.indexOf(Math.max(...far));

function derive({ graph, layer, rounds, listener }, ui) {
  const shape = ui.memo("shape", [graph], () => graphOf(graph));
  const { places, edges } = shape;
  const all = ui.memo("shares", [shape, layer], () =>
    sharesHeard(layer, places.length, edges, MOST),
  );
  const at = Math.min(listener, places.length - 1);
  const far = ui.memo("far", [shape, at], () => distances(places.length, edges, at));
  const shares = all[rounds][at];
  const reach = Math.min(rounds, Math.max(...far));
  const there = shares.filter((_, v) => far[v] === reach);
  const other = all[rounds][farthestOf(far)];
  return { ...shape, at, far, shares, reach, share: mean(there), differ: apart(shares, other) };
}

/** The cube root lets a share of a thousandth be seen. */
const depth = (share) => Math.cbrt(clamp(share, 0, 1));

function picture({ places, edges, at, shares, far, rounds }, ui) {
  const ends = (axis) => {
    const along = places.map((place) => place[axis]);
    return [Math.min(...along) - 1, Math.max(...along) + 1];
  };
  const nearest = (point, among) =>
    among[
      ranking(among.map((v) => -Math.hypot(places[v][0] - point[0], places[v][1] - point[1])))[0]
    ];
  const walk = (step) => {
    const [x, y] = places[ui.now.at];
    const ahead = upTo(places.length).filter(
      (v) => (places[v][0] - x) * step[0] + (places[v][1] - y) * step[1] > 1e-6,
    );
    const to = [x + step[0], y + step[1]];
    if (ahead.length) ui.set({ listener: nearest(to, ahead) });
  };
  const listen = (point) => ui.set({ listener: nearest(point, upTo(places.length)) });
  const heard = shares.filter((share) => share > 0).length;
  const options = {
    name: "graph",
    title: "Who is heard; drag the node that listens",
    says: `Graph of ${places.length} nodes; after ${rounds} rounds node ${at} hears ${heard} of them`,
    x: { ends: ends(0), ticks: [] },
    y: { ends: ends(1), ticks: [] },
    ...{ height: HEIGHT, group: true, equal: true, grow: 1.3 },
  };
  return panel(ui, options, (frame) => {
    const node = ([x, y], v) => svg`<circle cx=${frame.x(x)} cy=${frame.y(y)} r="6"
        fill="var(--cw-paper)" stroke="none"></circle>
      <circle cx=${frame.x(x)} cy=${frame.y(y)} r="6" fill=${HEARD}
        fill-opacity=${depth(shares[v])} stroke=${far[v] <= rounds ? HEARD : "var(--cw-edge)"}></circle>`;
    const edge = ([i, j]) =>
      line(frame, [places[i], places[j]], { colour: "var(--cw-edge)", width: 1 });
    return svg`${edges.map(edge)}
      ${places.map(node)}${ground(frame, listen)}
      ${handle(
        frame,
        {
          point: places[at],
          label: `node ${at} listens`,
          kind: "movable listener",
          moveTo: listen,
          moveBy: walk,
        },
        svg`<circle r="9.5" fill="none" stroke="var(--cw-warm)" stroke-width="3"></circle>`,
      )}`;
  });
}

function byDistance({ shares, far, reach, share, places }, ui) {
  const farthest = Math.max(...far);
  const options = {
    name: "shares",
    title: "Share of one node, against its distance",
    says: `Share against distance on a logarithmic axis; ${reach} steps away it is
      ${quantity(share)} on average`,
    x: { ends: [-0.5, farthest + 0.5], label: "steps away" },
    y: { ends: [LEAST, 1], logarithmic: true, ticks: [1e-6, 1e-4, 0.01, 1] },
    height: HEIGHT,
  };
  const means = upTo(farthest + 1)
    .map((d) => [d, mean(shares.filter((_, v) => far[v] === d))])
    .filter(([, value]) => value >= LEAST);
  return panel(
    ui,
    options,
    (frame) => svg`${rule(frame, { y: 1 / places.length })}
      ${equal(frame, means, 1 / places.length)}
      ${line(frame, means, { colour: HEARD, width: 1.5 })}
      ${shares.map((part, v) => (part >= LEAST ? dot(frame, [far[v], part], { colour: HEARD, r: 4 }) : ""))}`,
  );
}

/** The name of the level at which all are heard alike, where the curve leaves room for it. */
function equal(frame, means, level) {
  const name = "all nodes joined";
  const [from, y] = [frame.left + 6, frame.y(level)];
  const above = means.every(([d, v]) => v >= level || frame.x(d) > from + textWidth(name, TYPE));
  return above
    ? svg`<text class="cw-halo" x=${from} y=${y + 18} text-anchor="start">${name}</text>`
    : svg`<text class="cw-halo" x=${frame.right - 6} y=${y - 5} text-anchor="end">${name}</text>`;
}

function says({ differ, reach, far, share, layer }) {
  if (differ < 0.05) return "Over-smoothed: here and far away nearly the same is heard.";
  if (share > 0 && share < 0.01)
    return "Over-squashed: of what arrives, less than a hundredth comes from one far node.";
  if (layer === "neighbours")
    return "Without its own voice, a node hears in each round only every other distance.";
  return reach === Math.max(...far)
    ? "All are heard, the far ones less."
    : "Who is farther away than the rounds is not heard.";
}

export default liveFigure({
  derive,
  panels: (now, ui) => [picture(now, ui), byDistance(now, ui)],
  readings: ({ share, reach, differ }) => [
    { name: "share", label: `one node ${reach} steps away`, text: quantity(100 * share, "%") },
    {
      name: "differ",
      label: "other than what the farthest node hears",
      text: quantity(100 * differ, "%"),
    },
  ],
  says,
  tour: { knob: "rounds", from: 1, seconds: 6 },
});
