// How far hats and a softmax are off as nodes come closer, by a rule for the temperature.

import { area, dot, handle, legend, line, NARROW, panel, rule, word } from "../kit/charts.js";
import { textWidth } from "../kit/lettering.js";
import { number, quantity } from "../kit/text.js";
import { errorsOf, FUNCTIONS, largestError, RULES } from "../maths/interpolation.js";
import { clearest } from "../maths/labels.js";
import { clamp, upTo } from "../maths/numerics.js";
import { nearestRatio, stops } from "../maths/scaling.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const [FEWEST, MOST] = [4, 1024];
const COUNTS = upTo(9).map((k) => FEWEST * 2 ** k);
const STOPS = stops(FEWEST, MOST);
const [LEAST, LARGEST] = [1e-7, 1];
const [HEIGHT, HEIGHT_OF_BLENDS, HEIGHT_OF_ERRORS, GLASS] = [226, 112, 110, 1.35];
/** On a telephone, where the errors over x have no room; the kit makes panels lower there. */
const [HEIGHT_IF_NARROW, HEIGHT_OF_BLENDS_IF_NARROW] = [252, 150];
/** Points of a blend, and places at which the errors over x are told, each by the largest about it. */
const [DRAWN, PLACES] = [400, 160];
/** Below such a power of h an error stands still; and so near to that of hats it falls alike. */
const [STILL, ALIKE, SAME] = [0.3, 0.3, 0.1];
/** With fewer intervals no power of h is to be seen yet. */
const TELLING = 16;
/** With a fixed ratio of τ to h² the ripple falls like h, and in the end no error falls faster. */
const SLOWEST = { fixed: 0, ratio: 1, logarithm: Infinity };
/** No title is longer than this one, whose room all have. */
const LONGEST_TITLE = `8 of ${MOST + 1} nodes`;
/** For the numbers beside the axis, which are longer under a stronger glass. */
const NUMBERS = 48;
/** For an error in words, in digits. */
const ROOM_OF_AN_ERROR = 7;
/** So many intervals are drawn true to scale; of more, as many. */
const SHOWN = 8;
/** Where each function bends most within the middle half, and at which end its blend is worst. */
const AT_HOME = { wave: [(3 * Math.PI) / 14, 0], square: [0.5, 1], root: [0.25, 0] };
/** For the names of guides, at the right, clear of a handle. */
const [ROOM, BESIDE] = [28, 12];
/** So large an error would lie on the guide h where its number is written: that stands above. */
const [HIGH, ABOVE_H] = [4e-3, 0.11];
const SOFTMAX = "var(--cw-warm)";
const HATS = "var(--cw-accent)";
const DASH = "6 4";
/** Each rule with the factor that it begins with, and is compared with. */
const COMPARED = {
  fixed: { factor: 1, name: "τ = 1/1000" },
  ratio: { factor: 0.3, name: "0.3 h²" },
  logarithm: { factor: 2, name: "2 h² ln(1/h)/π²" },
};
/** The type of their names, and how far they keep from a curve. */
const [TYPE, CLEAR] = [12, 5];

const blendOf = ({ shape, where }, count, ratio) =>
  errorsOf(shape, count, ratio, where === "reflected");

const offBy = (now, count, ratio) =>
  largestError(blendOf(now, count, ratio), now.where === "middle");

const curveOf = (now, ratioAt) => COUNTS.map((count) => [count, offBy(now, count, ratioAt(count))]);

const halfOf = (count) => Math.ceil(count / 2);

/** What one basis is off by, and as which power of h that fell since half as many intervals. */
function standing(now, ratioAt) {
  const { intervals: count } = now;
  const half = halfOf(count);
  const errors = blendOf(now, count, ratioAt(count));
  const off = largestError(errors, now.where === "middle");
  const before = offBy(now, half, ratioAt(half));
  return { errors, off, power: Math.log(before / off) / Math.log(count / half) };
}

/** Whether a tour is on its way with curves of which none has ended yet. */
function isUnseen({ shape, where, law, factor, tour }, ui) {
  const known = ui.memo("known", [shape, where, law, factor], () => ({
    begun: false,
    seen: false,
  }));
  known.begun ||= Boolean(tour);
  known.seen ||= known.begun && !tour;
  return Boolean(tour) && !known.seen;
}

function derive(now, ui) {
  const { law, factor, intervals, shape, where, all } = now;
  const ratioAt = (count) => RULES[law](factor, count);
  const seen = [shape, where];
  const others = Object.keys(RULES).filter((one) => all && one !== law);
  return {
    hats: ui.memo("hats", [...seen, intervals], () => standing(now, () => 0)),
    softmax: ui.memo("softmax", [...seen, intervals, law, factor], () => standing(now, ratioAt)),
    hatCurve: ui.memo("hat curve", seen, () => curveOf(now, () => 0)),
    softmaxCurve: ui.memo("softmax curve", [...seen, law, factor], () => curveOf(now, ratioAt)),
    unseen: isUnseen(now, ui),
    others: others.map((one) => ({
      name: COMPARED[one].name,
      curve: ui.memo(one, seen, () =>
        curveOf(now, (count) => RULES[one](COMPARED[one].factor, count)),
      ),
    })),
  };
}

/**
 * The few intervals that the glass shows, about where errors are at home, from where to where.
 * @returns {[number, number]}
 */
function underTheGlass({ shape, where, intervals }) {
  const wide = Math.min(1, SHOWN / intervals);
  const [bend, end] = AT_HOME[shape];
  const from = clamp((where === "middle" ? bend : end) - wide / 2, 0, 1 - wide);
  return [from, from + wide];
}

/** A function with the errors of its blend, at points to be drawn. */
function drawn(u, errors, [from, to], count = DRAWN) {
  const end = errors.length - 1;
  const [first, last] = [Math.floor(from * end), Math.ceil(to * end)];
  const stride = Math.ceil((last - first) / count);
  const points = upTo(Math.ceil((last - first) / stride) + 1).map((i) =>
    Math.min(last, first + i * stride),
  );
  return points.map((k) => [k / end, u(k / end) + errors[k]]);
}

const isNarrow = (ui) => ui.width("panels", NARROW) < NARROW;

function blends(now, ui) {
  const { shape, where, intervals, hats, softmax } = now;
  const u = FUNCTIONS[shape];
  const glass = underTheGlass(now);
  const [mine, theirs] = [softmax, hats].map(({ errors }) => drawn(u, errors, glass));
  const wanted = mine.map(([x]) => [x, u(x)]);
  const heights = [...mine, ...theirs, ...wanted].map(([, y]) => y);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const room = 0.08 * (high - low);
  const nodes = upTo(intervals + 1).map((i) => i / intervals);
  const dots = nodes.filter((x) => glass[0] <= x && x <= glass[1]);
  const options = {
    name: "blends",
    title: [
      html`<span data-other=${LONGEST_TITLE}>${
        intervals > SHOWN ? `${dots.length} of ${intervals + 1} nodes` : `${intervals + 1} nodes`
      }</span>`,
      legend([{ text: "function u", colour: "var(--cw-ink)" }]),
    ],
    says: `The function and its blends at ${dots.length} of ${intervals + 1} nodes: hats off by up to
      ${quantity(hats.off)}, softmax by ${quantity(softmax.off)}`,
    x: { ends: glass },
    y: { ends: [low - room, high + room] },
    height: isNarrow(ui) ? HEIGHT_OF_BLENDS_IF_NARROW : HEIGHT_OF_BLENDS,
    margin: NUMBERS,
  };
  const ends = where === "middle" ? [0.25, 0.75].filter((x) => glass[0] < x && x < glass[1]) : [];
  return panel(
    ui,
    options,
    (frame) => svg`<g clip-path=${frame.clip}>
      ${ends.map((x) => rule(frame, { x, label: x < 0.5 ? "middle half" : "" }))}
      ${area(frame, [...mine, ...wanted.toReversed()], mine[0][1], { colour: SOFTMAX, opacity: 0.3 })}
      ${line(frame, wanted, { colour: "var(--cw-ink)", width: 1.5 })}
      ${line(frame, mine, { colour: SOFTMAX, width: 3 })}
      ${line(frame, theirs, { colour: HATS, width: 2, dash: DASH })}
      <path stroke="var(--cw-ink)" stroke-linecap="round" stroke-width="7"
        d=${dots.map((x) => `M${frame.x(x).toFixed(1)} ${frame.y(u(x)).toFixed(1)}h0`).join("")}></path>
    </g>`,
  );
}

const ERROR_AXIS = { ends: [LEAST, LARGEST], logarithmic: true, ticks: [1e-6, 1e-4, 1e-2, 1] };

/** How large errors are over x, at each place the largest about it. */
function sizes(errors, [from, to]) {
  const end = errors.length - 1;
  const at = (k) => Math.round(end * (from + ((to - from) * k) / PLACES));
  const largest = (k) =>
    errors.slice(at(k), at(k + 1) + 1).reduce((a, e) => Math.max(a, Math.abs(e)), 0);
  return upTo(PLACES).map((k) => [
    from + ((to - from) * (k + 0.5)) / PLACES,
    clamp(largest(k), LEAST, LARGEST),
  ]);
}

/** The errors over x, on the axis of the curves: both are seen, and it stays while nodes come closer. */
function errors(now, ui) {
  const { softmax, hats, where } = now;
  /** @type {[number, number]} */
  const over = where === "middle" ? [0.25, 0.75] : [0, 1];
  const [mine, theirs] = [softmax, hats].map((one) => sizes(one.errors, over));
  const options = {
    name: "errors",
    title: "How large their errors are over x",
    says: `The errors over x: hats off by up to ${quantity(hats.off)}, softmax by ${quantity(softmax.off)}`,
    ...{ x: { ends: over }, y: ERROR_AXIS, height: HEIGHT_OF_ERRORS, margin: NUMBERS },
  };
  return panel(
    ui,
    options,
    (frame) => svg`${area(frame, mine, LEAST, { colour: SOFTMAX, opacity: 0.2 })}
      ${line(frame, mine, { colour: SOFTMAX, width: 2 })}
      ${line(frame, theirs, { colour: HATS, width: 2, dash: DASH })}`,
  );
}

const stopOf = (count) => nearestRatio(STOPS, count);

/** A straight line on logarithmic axes, from error 1 at the fewest intervals. */
const slope = (power) => COUNTS.map((count) => [count, LARGEST * (FEWEST / count) ** power]);

/** The names of the other rules, each beside its curve, where least of any curve is covered. */
function namesOf(frame, { others, hatCurve, softmaxCurve, intervals, softmax, hats }) {
  const pixel = ([x, y]) => [frame.x(x), frame.y(clamp(y, LEAST, LARGEST))];
  const box = ([x, y]) => ({ x: x - 3, y: y - 3, width: 6, height: 6 });
  const between = (a, b) =>
    upTo(8).map((k) => box([a[0] + (k / 8) * (b[0] - a[0]), a[1] + (k / 8) * (b[1] - a[1])]));
  const along = (curve) => {
    const points = curve.map(pixel);
    return points.slice(1).flatMap((point, i) => between(points[i], point));
  };
  const guides = [1, 2].map(slope);
  const taken = [...guides, hatCurve, softmaxCurve, ...others.map((one) => one.curve)].flatMap(
    along,
  );
  for (const { off } of [softmax, hats]) {
    const [x, y] = pixel([intervals, off]);
    taken.push({ x: x - 10, y: y - 10, width: 20, height: 20 });
  }
  return others.map(({ name, curve }) => {
    const size = { width: textWidth(name, TYPE), height: TYPE };
    const places = along(curve).flatMap(({ x: right, y: low }) => [
      { x: right + CLEAR, y: low - TYPE - CLEAR, ...size },
      { x: right - size.width - CLEAR, y: low + CLEAR, ...size },
    ]);
    const inside = places.filter(
      (place) =>
        place.x > frame.left &&
        place.x + size.width < frame.right &&
        place.y > frame.top &&
        place.y + TYPE < frame.bottom,
    );
    const place = clearest(inside.length ? inside.reverse() : places, taken);
    taken.push(place);
    return svg`<text class="cw-halo" x=${place.x} y=${place.y + 0.8 * TYPE}
      style="fill: ${SOFTMAX}; font-size: ${TYPE}px">${name}</text>`;
  });
}

/** At which error stands how large that of a softmax is which falls no more. */
const besideStuck = (off) => (off > HIGH ? Math.max(ABOVE_H, 1.8 * off) : 1.8 * off);

const error = (text, name, { off }) => html`${text} <strong data-reading=${name}
  style="display: inline-block; min-width: ${ROOM_OF_AN_ERROR}ch">${quantity(off)}</strong>`;

function curves(now, ui) {
  const { intervals, hats, softmax, hatCurve, softmaxCurve, others, unseen } = now;
  const seen = (curve, { off }) =>
    unseen ? [...curve.filter(([count]) => count < intervals), [intervals, off]] : curve;
  const off = (text, name, one, look) => ({ text: error(text, name, one), ...look });
  const options = {
    name: "curves",
    title: [
      "Largest error:",
      legend([
        off("hats", "hats", hats, { colour: HATS, dash: DASH }),
        off("softmax", "softmax", softmax, { colour: SOFTMAX }),
      ]),
    ],
    says: `At ${intervals} intervals: hats off by ${quantity(hats.off)}, softmax by ${quantity(softmax.off)}`,
    x: {
      ends: [FEWEST, MOST],
      logarithmic: true,
      ticks: COUNTS.filter((_, k) => k % 2 === 0),
      // There the slider that says so stands right above.
      label: isNarrow(ui) ? "" : "intervals between nodes, 1/h",
    },
    y: ERROR_AXIS,
    height: isNarrow(ui) ? HEIGHT_IF_NARROW : HEIGHT,
    ...{ room: ROOM, group: true },
  };
  const guide = (frame, power, text) =>
    svg`${line(frame, slope(power), { colour: "var(--cw-edge)", width: 1 })}
      <text x=${frame.right + BESIDE} y=${frame.y(LARGEST * (FEWEST / MOST) ** power) + 4}
        style="fill: var(--cw-muted)">${text}</text>`;
  return panel(
    ui,
    options,
    (frame) => svg`${guide(frame, 1, "h")}${guide(frame, 2, "h²")}
      ${others.map(({ curve }) => line(frame, curve, { colour: SOFTMAX, width: 1.2, dash: "2 4" }))}
      ${line(frame, seen(hatCurve, hats), { colour: HATS, dash: DASH })}
      ${line(frame, seen(softmaxCurve, softmax), { colour: SOFTMAX })}
      ${namesOf(frame, now)}
      ${rule(frame, { x: intervals })}
      ${dot(frame, [intervals, hats.off], { colour: HATS })}
      ${
        isStuck(now)
          ? word(
              frame,
              [0.6 * MOST, besideStuck(softmax.off)],
              `stuck at ${quantity(softmax.off)}`,
              {
                ...{ colour: SOFTMAX, anchor: "end" },
              },
            )
          : ""
      }
      ${handle(frame, {
        point: [intervals, clamp(softmax.off, LEAST, LARGEST)],
        label: `${intervals} intervals`,
        kind: "movable number of intervals",
        moveTo: ([count]) => ui.set({ intervals: STOPS[stopOf(count)] }),
        moveBy: ([across]) =>
          ui.set({
            intervals: STOPS[clamp(stopOf(ui.now.intervals) + across, 0, STOPS.length - 1)],
          }),
      })}`,
  );
}

/** The rules as they are: the chosen one with the reader's factor, each other with its own. */
function lawsWith({ law, factor }) {
  const of = (one) => (one === law ? factor : COMPARED[one].factor);
  const c = (one) => (of(one) === 1 ? "" : `${quantity(of(one))} `);
  return {
    fixed: `fixed: ${Number((of("fixed") / 1000).toPrecision(3))}`,
    ...{ ratio: `${c("ratio")}h²`, logarithm: `${c("logarithm")}h² ln(1/h)/π²` },
  };
}

/** What became of an error that fell as a power of the distance. */
function became({ power }, ratio) {
  const times = ratio ** power;
  if (Math.abs(times - 1) < 0.02) return "as before";
  return times > 1 ? `${quantity(times)} times less` : `${quantity(1 / times)} times more`;
}

/** As which power of h an error falls over the last halving of h that there is. */
const inTheEnd = (curve) => Math.log2(curve[curve.length - 2][1] / curve[curve.length - 1][1]);

/** It stands still, here and in the end. */
const isStuck = ({ intervals, softmax, softmaxCurve }) =>
  intervals >= TELLING && Math.max(softmax.power, inTheEnd(softmaxCurve)) < STILL;

/** A rule has come out well once its error still falls like that of hats where h is smallest. */
function verdict(now) {
  const { intervals, law, softmax, hats, hatCurve, softmaxCurve } = now;
  if (intervals < TELLING) return { kind: "open", text: "Few nodes yet: too early to tell" };
  if (isStuck(now))
    return { kind: "bad", text: `Stuck at ${quantity(softmax.off)}: more nodes do not help` };
  const alike = softmax.power > hats.power - ALIKE;
  const like = softmax.power > hats.power - SAME ? "like" : "nearly like";
  if (!alike) return { kind: "open", text: "Its error falls, but slower than that of hats" };
  const needed = inTheEnd(hatCurve) - ALIKE;
  if (SLOWEST[law] < needed && inTheEnd(softmaxCurve) > needed)
    return { kind: "open", text: "So far like hats, but its ripple falls only like h" };
  return intervals === MOST
    ? { kind: "good", text: `Its error falls ${like} that of hats` }
    : { kind: "open", text: `So far its error falls ${like} that of hats` };
}

function says({ intervals, softmax, hats }) {
  const half = halfOf(intervals);
  const [ofHats, ofSoftmax] = [hats, softmax].map((one) => became(one, intervals / half));
  return `From ${half} to ${intervals} hats err ${ofHats}, the softmax ${ofSoftmax}.`;
}

export default liveFigure({
  derive,
  asks: "Do more nodes help?",
  verdict,
  panels: (now, ui) =>
    isNarrow(ui)
      ? [curves(now, ui), blends(now, ui)]
      : [
          html`<div style="display: grid; flex: ${GLASS} 1 16rem; gap: 0.3rem; min-width: 0">
            ${blends(now, ui)}${errors(now, ui)}</div>`,
          curves(now, ui),
        ],
  names: { law: lawsWith },
  along: { law: (law) => ({ factor: COMPARED[law].factor }) },
  readings: ({ intervals, softmax, hats }) => [
    { name: "hats", label: "hats off by", text: quantity(hats.off), drawn: true },
    { name: "softmax", label: "softmax off by", text: quantity(softmax.off), drawn: true },
    {
      name: "softmax-power",
      late: true,
      label: `order of the softmax, ${halfOf(intervals)} to ${intervals}:`,
      text: number(softmax.power, 2),
    },
  ],
  says,
  began: (now) => `1/h = ${now.intervals}, τ = ${lawsWith(now)[now.law].replace("fixed: ", "")}`,
  tour: { knob: "intervals", from: 8, seconds: 7 },
});
