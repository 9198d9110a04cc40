// Energies against time: the whole of each law, and beneath it the part that lies on the nodes.

import { future, line, panel, rule } from "../kit/charts.js";
import { textWidth } from "../kit/lettering.js";
import { number } from "../kit/text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const [TYPE, LINE, GAP] = [12, 14, 6];
const SHORT = { bracket: "Bracket" };

/** One name for two curves that lie under each other. */
function namesOf(drums, alike) {
  const names = drums.map(({ law, title, ink, curve }) => ({
    ...{ law, ink, name: SHORT[law] ?? title, share: curve.whole.at(-1) },
  }));
  if (!alike) return names;
  const [heat, wave, bracket] = names;
  return [wave, { ...bracket, name: `${heat.name}, bracket`, first: heat }];
}

/** Each name at the end of its curve, or as near as the others and the chart's edges leave room. */
function stacked(all, { y, top, bottom }) {
  const names = all.toSorted((one, other) => one.share - other.share);
  let free = bottom + LINE;
  const risen = names.map(({ share }) => (free = Math.min(y(share), free - LINE)));
  let taken = top - LINE;
  const sunk = risen.reverse().map((at) => (taken = Math.max(at, taken + LINE)));
  return names.reverse().map((one, i) => ({ ...one, at: sunk[i] }));
}

function end({ name, ink: own, share, at, first }, { y, right }) {
  const ink = `var(--cw-${own})`;
  const inks = first
    ? svg`<tspan style="fill: var(--cw-${first.ink})">${first.name}</tspan>${name.slice(first.name.length)}`
    : name;
  return svg`<path d="M${right} ${y(share)}L${right + GAP} ${at}" stroke=${ink}></path>
    <text class="cw-drum-name" x=${right + GAP + 3} y=${at + 4} style="fill: ${ink};
      font-size: ${TYPE}px">${inks}</text>`;
}

function curves(frame, drums, last) {
  const points = (shares) => shares.map((share, i) => [(i / (shares.length - 1)) * last, share]);
  return drums.map(({ ink, dash, curve }) => {
    const colour = `var(--cw-${ink})`;
    return [
      line(frame, points(curve.nodes), { colour, width: 1, opacity: 0.75 }),
      line(frame, points(curve.whole), { colour, width: 3, dash }),
    ];
  });
}

/** @param {any} now @param {any} ui */
export function chart({ drums, alike, time, end: last, unseen }, ui) {
  const names = namesOf(drums, alike);
  const says = "Energy of each law against time, as a share of the wave’s at the start";
  const room = GAP + Math.max(...names.map(({ name }) => textWidth(name, TYPE)));
  const x = { ends: [0, last], ticks: [] };
  const y = { ends: [0, 1], ticks: [0, 0.5, 1], format: (share) => `${number(100 * share, 0)} %` };
  return panel(ui, { name: "chart", says, height: 112, room, x, y }, (frame) => [
    ui.memo("curves", [frame.right, ...drums.map(({ curve }) => curve)], () =>
      curves(frame, drums, last),
    ),
    unseen ? future(frame, time) : stacked(names, frame).map((name) => end(name, frame)),
    rule(frame, { x: time, dash: "", colour: "var(--cw-ink)" }),
  ]);
}
