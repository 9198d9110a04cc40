// One night of a star is hidden: the reader guesses its magnitude, then sees what others fill in.

import { dot, ground, handle, legend, line, panel, rule } from "../kit/charts.js";
import { slider } from "../kit/controls.js";
import { marks } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { errorOf } from "../maths/light_curves.js";
import { clamp, upTo } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 270;
const DAYS = 2.5; // to each side of the hidden night
const [SEEN, YOU, TRUTH] = ["var(--cw-series-0)", "var(--cw-warm)", "var(--cw-ink)"];
const NUDGE = 0.02;

function derive({ time, magnitude, error, night, guess, said }, ui) {
  const at = Math.min(night, time.length - 1);
  const edges = ui.memo("edges", [magnitude, error], () => {
    const [bright, faint] = [
      Math.min(...magnitude.map((m, i) => m - error[i])),
      Math.max(...magnitude.map((m, i) => m + error[i])),
    ];
    const room = 0.06 * (faint - bright);
    return [faint + room, bright - room];
  });
  const own = edges[0] + guess * (edges[1] - edges[0]);
  const off = [own, ...said.map((row) => row[at])].map((m) => Math.abs(m - magnitude[at]));
  const typical = ui.memo("typical", [said, magnitude], () =>
    said.map((row) => errorOf(row, magnitude)),
  );
  return { at, edges, own, off, typical };
}

const choose = (ui, night) =>
  ui.set({ night: clamp(night, 0, ui.now.time.length - 1), asked: false });
const guessAt = (ui, guess) => ui.set({ guess: clamp(guess, 0, 1) });

/** Where a date stands: in days, or in turns of the period. */
const placed = ({ folded, period }, t) => (folded ? (t / period) % 1 : t);

/** What the star did: its light repeats, so one turn tells all days in sight. */
function truth({ light, own_period: period, folded }, ends) {
  const count = folded ? light.length : 400;
  const at = (turn) => {
    const place = (turn - Math.floor(turn)) * light.length;
    const before = Math.floor(place);
    const next = light[(before + 1) % light.length];
    return light[before] + (place - before) * (next - light[before]);
  };
  return upTo(count + 1).map((i) => {
    const x = ends[0] + (i / count) * (ends[1] - ends[0]);
    return [x, at(folded ? x : x / period)];
  });
}

function curve(now, ui) {
  const { time, magnitude, error, at, folded, asked, edges, own } = now;
  const span = folded ? [0, 1] : [time[at] - DAYS, time[at] + DAYS];
  const says = folded ? "folded" : `within ${number(2 * DAYS, 0)} days`;
  const options = {
    name: "curve",
    title: [
      folded ? "All nights, folded" : "Around the hidden night",
      asked ? legend([{ text: "what it did", colour: TRUTH, width: 2 }]) : nothing,
    ],
    says: `Nights of the star, ${says}; night ${at + 1} is hidden`,
    x: { ends: span, label: folded ? "phase, in turns" : "days since the first night" },
    y: {
      ends: edges,
      ticks: marks([edges[1], edges[0]], false, 5),
      label: "magnitude, brighter is up",
    },
    ...{ height: HEIGHT, grow: 1.6, group: true },
  };
  return panel(ui, options, (frame) => {
    const xs = time.map((t) => placed(now, t));
    const inSight = xs.flatMap((x, i) => (x >= span[0] && x <= span[1] ? [i] : []));
    const bar = (
      i,
      colour,
    ) => svg`<path d="M${frame.x(xs[i])} ${frame.y(magnitude[i] - error[i])}V${frame.y(magnitude[i] + error[i])}"
      stroke=${colour} stroke-width="1.5" stroke-opacity="0.7"></path>`;
    const night = (i) =>
      svg`${bar(i, SEEN)}${dot(frame, [xs[i], magnitude[i]], { colour: SEEN, r: 5 })}`;
    const nearest = ([x, y]) => {
      const far = (i) =>
        Math.hypot(frame.x(xs[i]) - frame.x(x), frame.y(magnitude[i]) - frame.y(y));
      choose(
        ui,
        inSight.reduce((a, b) => (far(b) < far(a) ? b : a)),
      );
    };
    const share = (m) => (m - edges[0]) / (edges[1] - edges[0]);
    const shown = svg`${line(frame, truth(now, span), { colour: TRUTH, width: 1.5, opacity: 0.8 })}
      ${bar(at, TRUTH)}${dot(frame, [xs[at], magnitude[at]], { colour: TRUTH, r: 6 })}`;
    const ring = svg`<circle r="8" fill="var(--cw-paper)" fill-opacity="0.6" stroke=${YOU}
      stroke-width="3"></circle>`;
    const grip = {
      point: [xs[at], own],
      label: `Your guess for night ${at + 1}, ${number(own)} mag`,
      kind: "movable guess",
      moveTo: ([, m]) => guessAt(ui, share(m)),
      moveBy: ([across, up]) =>
        across ? choose(ui, ui.now.at + across) : guessAt(ui, ui.now.guess + NUDGE * up),
    };
    return svg`${ground(frame, nearest)}<g pointer-events="none">
      ${rule(frame, { x: xs[at], colour: YOU })}${asked ? shown : nothing}
      ${inSight.filter((i) => i !== at).map(night)}</g>${handle(frame, grip, ring)}`;
  });
}

const readingOf = (i) => (i ? `way${i}` : "you");

/** How far off each is: at this night a bar, over all nights a line across. */
function errors(now, ui) {
  const { ways, off, typical, asked } = now;
  const names = ["you", ...ways];
  const most = 1.4 * Math.max(...typical, ...(asked ? off : [0]));
  const options = {
    name: "errors",
    title: ["How far off", legend([{ text: "on average", colour: TRUTH, width: 3 }])],
    says: asked
      ? names.map((name, i) => `${name} ${number(off[i], 3)}`).join(", ")
      : "Nothing yet: guess first",
    x: { ends: [0, most], label: "magnitudes" },
    y: { ends: [], names },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const bar = (error, i) => svg`<rect x=${frame.left} y=${frame.y(i - 0.3)}
      width=${frame.x(error) - frame.left} height=${frame.y(i + 0.3) - frame.y(i - 0.3)}
      fill=${i ? SEEN : YOU}></rect>
      <text class="cw-halo" x=${frame.x(Math.max(error, typical[i - 1] ?? 0)) + 5} y=${frame.y(i) + 4}
        data-reading=${readingOf(i)}>${number(error, 3)}</text>`;
    const usual = (
      error,
      i,
    ) => svg`<path d="M${frame.x(error)} ${frame.y(i + 0.6)}V${frame.y(i + 1.4)}"
      stroke=${TRUTH} stroke-width="3"></path>`;
    return asked ? svg`${off.map(bar)}${typical.map(usual)}` : nothing;
  });
}

const chooser = ({ at, time }, ui) =>
  slider(ui, "night", {
    label: "Hidden night",
    min: 1,
    max: time.length,
    value: at + 1,
    set: (place) => choose(ui, place - 1),
  });

function verdict({ asked, off, ways, folded }) {
  if (!asked) return { kind: "open", text: "Drag the ring to your guess, then show the night" };
  const better = off.slice(1).filter((error) => error < off[0]).length;
  const text = `You are ${number(off[0])} mag off, closer than ${ways.length - better} of ${ways.length} ways`;
  return { kind: better < ways.length / 2 ? "good" : folded ? "open" : "bad", text };
}

function says({ asked, ways, off, folded }) {
  if (!asked)
    return folded
      ? "Nights of nearby phase tell what the hidden night shows."
      : "Neighbours in time tell little: between two nights the star may rise and fall several times.";
  const order = ways.map((_, i) => i + 1).sort((a, b) => off[a] - off[b]);
  const [best, worst] = [order[0], order.at(-1)];
  return `Closest: ${ways[best - 1]}, ${number(off[best], 3)} mag off. Farthest: ${ways[worst - 1]}, ${number(off[worst], 3)} mag off.`;
}

export default liveFigure({
  derive,
  chooser,
  panels: (now, ui) => [curve(now, ui), errors(now, ui)],
  asks: "What did the star do that night?",
  verdict,
  readings: ({ asked, off, ways }) =>
    asked
      ? off.map((error, i) => ({
          name: readingOf(i),
          label: `${i ? ways[i - 1] : "you"} off by`,
          text: number(error, 3),
          drawn: true,
        }))
      : [],
  says,
  began: ({ night, folded }) => `night ${night + 1}, ${folded ? "folded" : "in days"}`,
});
