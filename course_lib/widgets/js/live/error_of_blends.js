// How far hats and a softmax are off as nodes come closer, by a rule for the temperature.

import { liveFigure } from "../../live_figure.js";
import { area, dot, handle, legend, line, panel, rule, word } from "../charts.js";
import { errorsOf, FUNCTIONS, largestError, RULES } from "../maths/interpolation.js";
import { clamp, upTo } from "../maths/numerics.js";
import { nearestRatio, stops } from "../maths/scaling.js";
import { number, quantity } from "../text.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

const [FEWEST, MOST] = [4, 1024];
const COUNTS = upTo(9).map((k) => FEWEST * 2 ** k);
const STOPS = stops(FEWEST, MOST);
const [LEAST, LARGEST] = [1e-7, 1];
const HEIGHT = 215;
const DRAWN = 300;
const SEEN_NODES = 32;
/** Where guides are named. */
const NAMED = 700;
const SOFTMAX = "var(--cw-warm)";
const HATS = "var(--cw-accent)";
const DASH = "6 4";
/** Each rule with a factor, to be compared. */
const COMPARED = {
  fixed: { factor: 1, name: "τ = 1/1000" },
  ratio: { factor: 0.3, name: "0.3 h²" },
  logarithm: { factor: 2, name: "2 h² ln(1/h)/π²" },
};

const blendOf = ({ shape, where }, count, ratio) =>
  errorsOf(shape, count, ratio, where === "reflected");

const offBy = (now, count, ratio) =>
  largestError(blendOf(now, count, ratio), now.where === "middle");

const curveOf = (now, ratioAt) =>
  COUNTS.map((count) => [1 / count, offBy(now, count, ratioAt(count))]);

/** What one basis is off by, and as which power of h that fell since half as many intervals. */
function standing(now, ratioAt) {
  const { intervals: count } = now;
  const half = Math.ceil(count / 2);
  const errors = blendOf(now, count, ratioAt(count));
  const off = largestError(errors, now.where === "middle");
  const before = offBy(now, half, ratioAt(half));
  return { errors, off, power: Math.log(before / off) / Math.log(count / half) };
}

function derive(now, ui) {
  const { law, factor, intervals, shape, where, all } = now;
  const ratioAt = (count) => RULES[law](factor, count);
  const seen = [shape, where];
  const others = Object.keys(RULES).filter((one) => all && one !== law);
  return {
    ratio: ratioAt(intervals),
    hats: ui.memo("hats", [...seen, intervals], () => standing(now, () => 0)),
    softmax: ui.memo("softmax", [...seen, intervals, law, factor], () => standing(now, ratioAt)),
    hatCurve: ui.memo("hat curve", seen, () => curveOf(now, () => 0)),
    softmaxCurve: ui.memo("softmax curve", [...seen, law, factor], () => curveOf(now, ratioAt)),
    others: others.map((one) => ({
      name: COMPARED[one].name,
      curve: ui.memo(one, seen, () =>
        curveOf(now, (count) => RULES[one](COMPARED[one].factor, count)),
      ),
    })),
  };
}

/** A round factor that makes errors large enough to be seen. */
function magnified(off, span) {
  const most = Math.max(1, (0.35 * span) / off);
  const decade = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].map((digit) => digit * decade).find((factor) => factor <= most);
}

/** Errors as points; of more than can be drawn, the least and the largest of each handful. */
function drawnOf(errors) {
  const end = errors.length - 1;
  const handful = Math.ceil(end / DRAWN / 3);
  if (handful === 1) return errors.map((error, k) => [k / end, error]);
  return upTo(Math.ceil(end / handful)).flatMap((i) => {
    const few = errors.slice(i * handful, (i + 1) * handful);
    return [Math.min(...few), Math.max(...few)].map((error) => [(i * handful) / end, error]);
  });
}

function blends({ shape, where, intervals, hats, softmax }, ui) {
  const u = FUNCTIONS[shape];
  const truth = upTo(DRAWN + 1).map((k) => [k / DRAWN, u(k / DRAWN)]);
  const heights = truth.map(([, y]) => y);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const span = high - low;
  const factor = magnified(Math.max(softmax.off, hats.off), span);
  const told = factor === 1 ? "" : `, drawn ${quantity(factor)} times as large`;
  const options = {
    name: "blends",
    title: [
      html`Errors${told}`,
      legend([
        { text: "softmax", colour: SOFTMAX },
        { text: "hats", colour: HATS, dash: DASH },
      ]),
    ],
    says: `The function and its blends of ${intervals + 1} nodes, with errors${told}`,
    x: { ends: [0, 1], label: "x" },
    y: { ends: [low - 0.4 * span, high + 0.4 * span] },
    height: HEIGHT,
  };
  const off = (errors) => drawnOf(errors).map(([x, error]) => [x, u(x) + factor * error]);
  const mine = off(softmax.errors);
  const nodes = intervals > SEEN_NODES ? [] : upTo(intervals + 1).map((i) => i / intervals);
  return panel(
    ui,
    options,
    (frame) => svg`${
      where === "middle" &&
      [0.25, 0.75].map((x) => rule(frame, { x, label: x < 0.5 ? "middle half" : "" }))
    }
      ${area(frame, [...mine, ...truth.toReversed()], mine[0][1], { colour: SOFTMAX, opacity: 0.25 })}
      ${line(frame, truth, { colour: "var(--cw-ink)", width: 1.2 })}
      ${line(frame, off(hats.errors), { colour: HATS, width: 1.8, dash: DASH })}
      ${line(frame, mine, { colour: SOFTMAX, width: 2 })}
      ${nodes.map((x) => dot(frame, [x, u(x)], { r: 3.5 }))}`,
  );
}

const stopOf = (count) => nearestRatio(STOPS, count);

/** A straight line on logarithmic axes, from error 1 at the largest distance. */
const slope = (power, counts = [FEWEST, MOST]) =>
  counts.map((count) => [1 / count, LARGEST * (FEWEST / count) ** power]);

function curves(now, ui) {
  const { intervals, hats, softmax, hatCurve, softmaxCurve, others } = now;
  const options = {
    name: "curves",
    title: "Largest error, by distance",
    says: `At h = 1/${intervals}: hats off by ${quantity(hats.off)}, softmax by ${quantity(softmax.off)}`,
    x: {
      ends: [1 / MOST, 1 / FEWEST],
      logarithmic: true,
      ticks: COUNTS.filter((_, k) => k % 2 === 0)
        .map((count) => 1 / count)
        .reverse(),
      format: (h) => `1/${Math.round(1 / h)}`,
      label: "distance h",
    },
    y: { ends: [LEAST, LARGEST], logarithmic: true },
    ...{ height: HEIGHT, group: true },
  };
  const guide = (frame, power, text) =>
    svg`${line(frame, slope(power), {
      colour: "var(--cw-edge)",
      width: 1,
    })}${word(frame, slope(power, [NAMED])[0], text, { colour: "var(--cw-muted)" })}`;
  return panel(
    ui,
    options,
    (frame) => svg`${guide(frame, 1, "h")}${guide(frame, 2, "h²")}
      ${others.map(
        ({ name, curve }) => svg`${line(frame, curve, { colour: SOFTMAX, width: 1.2, dash: "2 4" })}
          ${word(frame, curve[curve.length - 2], name, { colour: SOFTMAX })}`,
      )}
      ${line(frame, hatCurve, { colour: HATS, dash: DASH })}
      ${line(frame, softmaxCurve, { colour: SOFTMAX })}
      ${rule(frame, { x: 1 / intervals })}
      ${dot(frame, [1 / intervals, hats.off], { colour: HATS })}
      ${handle(frame, {
        point: [1 / intervals, clamp(softmax.off, LEAST, LARGEST)],
        label: `${intervals} intervals`,
        kind: "movable distance",
        moveTo: ([h]) => ui.set({ intervals: STOPS[stopOf(1 / h)] }),
        moveBy: ([across]) =>
          ui.set({
            intervals: STOPS[clamp(stopOf(ui.now.intervals) - across, 0, STOPS.length - 1)],
          }),
      })}`,
  );
}

/** What became of an error that fell as a power of the distance. */
function became({ power }, ratio) {
  const times = ratio ** power;
  if (Math.abs(times - 1) < 0.02) return "stayed as it was";
  return times > 1
    ? `became ${quantity(times)} times smaller`
    : `became ${quantity(1 / times)} times larger`;
}

function says({ intervals, softmax, hats }) {
  const half = Math.ceil(intervals / 2);
  const [ofHats, ofSoftmax] = [hats, softmax].map((one) => became(one, intervals / half));
  return `From ${half} to ${intervals} intervals the error of hats ${ofHats}, that of the softmax
    ${ofSoftmax}.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [blends(now, ui), curves(now, ui)],
  readings: ({ ratio, softmax, hats }) => [
    { name: "hats", label: "hats off by", text: quantity(hats.off) },
    { name: "hats-power", label: "order of hats", text: number(hats.power, 3) },
    { name: "softmax", label: "softmax off by", text: quantity(softmax.off) },
    { name: "softmax-power", label: "order of the softmax", text: number(softmax.power, 3) },
    { name: "ratio", label: "τ", text: quantity(ratio, "h²") },
  ],
  says,
  tour: { knob: "intervals", from: 4, seconds: 5 },
});
