import { naiveRows } from "../maths/tiles.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { CHIP, HEIGHT, onTheWay, path, places, WIDTH } from "./trip.js";

/** As large as the other side: S above P, and O beside them. */
const [LEFT, TOP, SIDE, GAP, STRIP] = [30, 24, 80, 12, 11];
const PLACES = {
  S: [LEFT, TOP],
  P: [LEFT, TOP + SIDE + GAP],
  O: [LEFT + SIDE + 28, TOP + SIDE + GAP],
};
const OPERATORS = ["1. all of S = QKᵀ / √d", "2. all of P = softmax of S", "3. all of O = PV"];

/** The ways of a step: of which matrix which rows go out of the chip, or come back to it. */
function waysOf({ step, plan, shape: [queries] }) {
  const [s, p, o] = naiveRows(step, plan.length, queries);
  const [s0, p0, o0] = step ? naiveRows(step - 1, plan.length, queries) : [0, 0, 0];
  return [
    { name: "S", out: true, rows: [s0, s], operator: 0 },
    { name: "S", out: false, rows: [p0, p], operator: 1 },
    { name: "P", out: true, rows: [p0, p], operator: 1 },
    { name: "P", out: false, rows: [o0, o], operator: 2 },
    { name: "O", out: true, rows: [o0, o], operator: 2 },
  ].filter(({ rows: [first, end] }) => first < end);
}

/** The naive algorithm as far on its way: one operator after the other, all through slow memory. */
export function naivePicture(now) {
  const {
    shape: [queries, keys],
    step,
    plan,
    trip,
  } = now;
  const cell = SIDE / Math.max(queries, keys);
  const ways = waysOf(now);
  const at = trip < 1 ? Math.floor(trip * ways.length) : ways.length;
  const whole = naiveRows(step, plan.length, queries);
  const boxOf = (name, [first, end]) => ({
    ...{ x: PLACES[name][0], y: PLACES[name][1] + first * cell },
    ...{ width: name === "O" ? STRIP : keys * cell, height: (end - first) * cell },
  });
  const matrix = (name, i) => {
    const coming = ways.findIndex((way) => way.name === name && way.out);
    const rows = coming >= at ? ways[coming].rows[0] : whole[i];
    return svg`<path d=${path(boxOf(name, [0, queries]))} fill="var(--cw-panel)"
        stroke="var(--cw-edge)"></path>
      <path data-layer="naive-${name}" d=${rows ? path(boxOf(name, [0, rows])) : ""}
        fill=${name === "O" ? "var(--cw-accent)" : "var(--cw-edge)"}
        fill-opacity=${name === "O" ? 1 : 0.55}></path>
      <text x=${PLACES[name][0] - 6} y=${PLACES[name][1] + 12} text-anchor="end">${name}</text>`;
  };
  const flying = ({ name, out, rows }) => {
    const far = boxOf(name, rows);
    const near = {
      ...far,
      x: CHIP.x + (CHIP.width - far.width) / 2,
      y: CHIP.y + (CHIP.height - far.height) / 2,
    };
    const share = trip * ways.length - at;
    return path(out ? onTheWay(near, far, share) : onTheWay(far, near, share));
  };
  const operator = (ways[at] ?? ways.at(-1))?.operator;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">
    ${places()}${["S", "P", "O"].map(matrix)}
    <text class="cw-small" x=${CHIP.x + CHIP.width} y=${HEIGHT - 6}
      text-anchor="end">${OPERATORS[operator] ?? ""}</text>
    <path data-layer="naive-trip" d=${at < ways.length ? flying(ways[at]) : ""}
      fill="var(--cw-edge)" stroke="var(--cw-ink)"></path>
  </svg>`;
}
