// A node listens through rounds of message passing: whose voice reaches it, and how much of it.

import { dot, ground, handle, line, panel, rule, word } from "../kit/charts.js";
import { button } from "../kit/controls.js";
import { textWidth } from "../kit/lettering.js";
import { quantity } from "../kit/text.js";
import { distances } from "../maths/graph_dynamics.js";
import { alongEdges, graphOf, inCommon, sharesHeard } from "../maths/listening.js";
import { clamp, mean, ranking, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const [MOST, HEIGHT, LEAST, TYPE] = [30, 222, 1e-6, 12];
const [LARGEST, CROWDED] = [7, 0.46];
const HEARD = "var(--cw-accent)";
const [THIN, THICK, PER_SHARE] = [1, 9, 16];
/** How far an added edge bends, in parts of its length, and how thick it is at least. */
const [BEND, SEEN] = [0.25, 2.5];
const stepsAway = (reach) => `${reach} ${reach === 1 ? "step" : "steps"} away`;
const percent = (share) => quantity(100 * share, "%");
/** Who hears more than this alike hears the same. */
const ALIKE = 0.95;
const farthestOf = (far) => far.indexOf(Math.max(...far));

function derive({ graph, layer, rounds, listener, joined }, ui) {
  const { places, edges } = ui.memo("shape", [graph], () => graphOf(graph));
  const count = places.length;
  const at = Math.min(listener, count - 1);
  const apartAlone = ui.memo("far alone", [edges, at], () => distances(count, edges, at));
  const [farthest, across] = [farthestOf(apartAlone), Math.max(...apartAlone)];
  const all = ui.memo("all", [edges, at, joined], () =>
    joined ? [...edges, [at, farthest]] : edges,
  );
  const alone = ui.memo("alone", [edges, layer], () => sharesHeard(layer, count, edges, MOST));
  const heard = joined
    ? ui.memo("shares", [all, layer], () => sharesHeard(layer, count, all, MOST))
    : alone;
  const far = ui.memo("far", [all, at], () => distances(count, all, at));
  const shares = heard[rounds][at];
  const reach = joined ? 1 : Math.min(rounds, across);
  /** After so many rounds, of the far node if an edge joins it, else of one at the farthest distance. */
  const shareAfter = (n) =>
    joined
      ? heard[n][at][farthest]
      : mean(heard[n][at].filter((_, v) => far[v] === Math.min(n, across)));
  const ways = ui.memo("ways", [all, layer, rounds, at], () =>
    alongEdges(layer, count, all, rounds, at),
  );
  const share = shareAfter(rounds);
  return {
    ...{ places, edges, at, far, shares, reach, ways, across },
    // The node that is marked, named and joined is one and the same, in every round.
    speaker: farthest,
    share,
    // Beside a new edge one round may hear what the other does not.
    lately: joined ? Math.max(share, shareAfter(Math.max(1, rounds - 1))) : share,
    before: alone[rounds][at][farthest],
    curves: ui.memo("curves", [heard, far], () => [
      drawn(shareAfter),
      joined ? drawn((n) => alone[n][at][farthest]) : [],
    ]),
    common: inCommon(shares, heard[rounds][farthestOf(far)]),
  };
}

/** What a logarithmic axis can show of a share, against the rounds. */
const drawn = (shareAfter) =>
  upTo(MOST)
    .map((i) => [i + 1, shareAfter(i + 1)])
    .filter(([, share]) => share >= LEAST);

/** The edge that a hand has added passes beside the nodes between its ends, within the picture. */
function arc(frame, ends, share) {
  const [[x0, y0], [x1, y1]] = ends.map(([x, y]) => [frame.x(x), frame.y(y)]);
  const middle = [(x0 + x1) / 2, (y0 + y1) / 2];
  const inwards = [
    (frame.left + frame.right) / 2 - middle[0],
    (frame.top + frame.bottom) / 2 - middle[1],
  ];
  const side = Math.sign((y0 - y1) * inwards[0] + (x1 - x0) * inwards[1]) || 1;
  const [x, y] = [middle[0] + BEND * side * (y0 - y1), middle[1] + BEND * side * (x1 - x0)];
  return svg`<path d="M${x0} ${y0}Q${x} ${y} ${x1} ${y1}" fill="none"
    stroke=${HEARD} stroke-width=${Math.max(SEEN, thickness(share))} stroke-opacity="0.75"></path>`;
}

/** What the rule of a layer lets a node hear. */
const HEARS = {
  neighbours: "a node hears its neighbours",
  sum: "a node hears itself, too",
  normalized: "a node hears itself, too, normalized",
};

/** The cube root lets a share of a thousandth be seen. */
const depth = (share) => Math.cbrt(clamp(share, 0, 1));

/** The root lets thin ways be seen beside thick ones. */
const thickness = (share) => clamp(PER_SHARE * Math.sqrt(share), THIN, THICK);

/** So large are nodes that no two of them touch. */
function radiusOf(frame, places, edges) {
  const pixels = places.map(([x, y]) => [frame.x(x), frame.y(y)]);
  const apart = ([x, y], [u, v]) => Math.hypot(x - u, y - v);
  const gaps = pixels.slice(1).map((pixel, i) => apart(pixel, pixels[i]));
  const along = edges.map(([i, j]) => apart(pixels[i], pixels[j]));
  return Math.min(LARGEST, CROWDED * Math.min(...gaps, ...along));
}

function picture(now, ui) {
  const { places, edges, at, shares, far, rounds, across, graph, ways, speaker, joined } = now;
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
    title: "Drag the node that listens",
    says: `Graph of ${places.length} nodes; after ${rounds} rounds node ${at} hears ${heard} of them`,
    x: {
      ends: ends(0),
      ticks: [],
      label: `dashed: the far node, ${joined ? "joined to it" : stepsAway(across)}`,
    },
    y: { ends: ends(1), ticks: [] },
    ...{ height: HEIGHT, group: true, equal: graph !== "tree", grow: 1.3 },
  };
  const [fromX, fromY] = places[speaker];
  return panel(ui, options, (frame) => {
    const radius = radiusOf(frame, places, edges);
    const node = ([x, y], v) => svg`<circle cx=${frame.x(x)} cy=${frame.y(y)} r=${radius}
        fill="var(--cw-paper)" stroke="none"></circle>
      <circle cx=${frame.x(x)} cy=${frame.y(y)} r=${radius} fill=${HEARD}
        fill-opacity=${depth(shares[v])} stroke=${far[v] <= rounds ? HEARD : "var(--cw-edge)"}></circle>`;
    const edge = ([i, j], e) =>
      line(frame, [places[i], places[j]], {
        colour: ways[e] > 0 ? HEARD : "var(--cw-edge)",
        width: thickness(ways[e]),
        opacity: ways[e] > 0 ? 0.6 : 1,
      });
    return svg`${edges.map(edge)}
      ${joined ? arc(frame, [places[at], places[speaker]], ways[edges.length]) : nothing}
      ${places.map(node)}
      <circle cx=${frame.x(fromX)} cy=${frame.y(fromY)} r=${radius + 3.5} fill="none"
        stroke=${HEARD} stroke-width="2.5" stroke-dasharray="3 2"></circle>
      <g data-transport>${ground(frame, listen)}</g>
      <g data-snaps="nodes" data-transport>${handle(
        frame,
        {
          point: places[at],
          label: `node ${at} listens`,
          kind: "movable listener",
          moveTo: listen,
          moveBy: walk,
        },
        svg`<circle r=${radius + 3.5} fill="none" stroke="var(--cw-warm)" stroke-width="3"></circle>`,
      )}</g>`;
  });
}

function byRounds(now, ui) {
  const { share, rounds, places, curves } = now;
  const [curve, alone] = curves;
  const options = {
    name: "shares",
    title: "How much of one node is heard",
    says: `Share against the rounds on a logarithmic axis; after ${rounds} it is ${quantity(share)}`,
    x: { ends: [1, MOST], ticks: [1, 10, 20, 30], label: "rounds" },
    y: {
      ...{ ends: [LEAST, 1], logarithmic: true, ticks: [1e-4, 0.01, 1] },
      ...{ label: "share of all that is heard", format: percent },
    },
    height: HEIGHT,
  };
  const past = curve.filter(([n]) => n <= rounds);
  return panel(
    ui,
    options,
    (frame) => svg`${rule(frame, { y: 1 / places.length })}
      ${equal(frame, curves.flat(), 1 / places.length)}
      ${alone.length ? line(frame, alone, { colour: "var(--cw-muted)", width: 1.5, dash: "4 3" }) : nothing}
      ${alone.length ? word(frame, [MOST, alone.at(-1)[1] / 40], "not joined", { colour: "var(--cw-muted)", anchor: "end" }) : nothing}
      ${line(frame, curve, { colour: HEARD, width: 1.5, opacity: 0.35 })}
      ${past.length ? line(frame, past, { colour: HEARD }) : nothing}
      ${share >= LEAST ? dot(frame, [rounds, share], { colour: HEARD }) : nothing}`,
  );
}

/** The name of the level at which all are heard alike, where the curve leaves room for it. */
function equal(frame, curve, level) {
  const name = `equal: 1 in ${Math.round(1 / level)}`;
  const [from, y] = [frame.left + 6, frame.y(level)];
  const above = curve.every(([n, v]) => v >= level || frame.x(n) > from + textWidth(name, TYPE));
  return above
    ? svg`<text class="cw-halo" x=${from} y=${y + 18} text-anchor="start">${name}</text>`
    : svg`<text class="cw-halo" x=${frame.right - 6} y=${y - 5} text-anchor="end">${name}</text>`;
}

/** A share in words, which stay together: of how many parts it is one. */
const oneIn = (share) => `1\u00a0in\u00a0${quantity(Number((1 / share).toPrecision(2)))}`;

/** Each of these graphs has two sides, and without itself a node hears one of them in a round. */
const onlyEveryOther = ({ layer, joined }) => layer === "neighbours" && !joined;

/** Less than a tenth of what a node is heard if all are heard alike. */
const isSquashed = ({ share, lately, places }) => share > 0 && 10 * lately * places.length < 1;

function verdict(now) {
  const { common, reach, across, share, lately, before, joined } = now;
  if (common > ALIKE)
    return { kind: "bad", text: "Over-smoothed: here and far away the same is heard" };
  if (reach < across && !joined)
    return { kind: "open", text: `Not yet: ${reach} of ${across} steps heard` };
  if (isSquashed(now))
    return {
      kind: "bad",
      text: `Over-squashed${joined ? ", though joined" : ""}: ${oneIn(share)}`,
    };
  if (10 * share < lately || share === 0 || onlyEveryOther(now))
    return { kind: "open", text: "Only every other distance is heard in a round" };
  if (!joined) return { kind: "good", text: `Still ${oneIn(share)}, ${stepsAway(across)}` };
  const kind = share > before ? "good" : "open";
  return {
    kind,
    text: `Joined: ${oneIn(share)} in place of ${before > 0 ? oneIn(before) : "nothing"}`,
  };
}

function says(now) {
  const { common, joined, reach, across } = now;
  const heard = joined || reach === across;
  const squashed = heard && common <= ALIKE && isSquashed(now) ? " Others drown the far one." : "";
  return `Thick edges have carried more${joined ? ", the new one too" : ""}.${squashed}`;
}

/** An edge from the listener to the farthest node, or none; a tour goes on meanwhile. */
const joining = ({ joined }, ui) => {
  const [here, other] = ["Join the far node", "Cut that edge"];
  const press = () => ui.set({ joined: !ui.now.joined });
  return html`<span data-transport>${
    joined ? button(other, press, { other: here }) : button(here, press, { other })
  }</span>`;
};

export default liveFigure({
  derive,
  panels: (now, ui) => [picture(now, ui), byRounds(now, ui)],
  asks: "Is the far node still heard?",
  verdict,
  chooser: joining,
  readings: ({ share, reach, common, joined }) => [
    {
      name: "share",
      label: joined ? "The far node, now joined:" : `One node ${stepsAway(reach)}:`,
      text: percent(share),
    },
    {
      name: "common",
      label: "Heard alike at both ends:",
      text: percent(common),
    },
  ],
  says,
  began: ({ rounds, graph, layer }) => `${rounds} rounds on the ${graph}; ${HEARS[layer]}`,
  tour: { knob: "rounds", from: 1, seconds: 6 },
});
