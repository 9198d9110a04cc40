// The nights in time and folded, and the periodogram.

import { ground, handle, line, NARROW, panel, rule } from "../kit/charts.js";
import { apart, middleOf } from "../kit/lettering.js";
import { marks } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { handOnNights, keysOnNights, stepPeriod, takeFrequency } from "./hand.js";
import { days } from "./words.js";

export const COLOURS = {
  seen: "var(--cw-series-0)",
  astromer: "var(--cw-series-1)",
  waves: "var(--cw-series-2)",
  line: "var(--cw-series-3)",
};
const WIDE = { phase: 190, power: 190, time: 132, sky: 132 };
const LOW = { phase: 150, power: 112, time: 102, sky: 104 };
const SMALL = 12; // pixels of type
const BAR = { astromer: 8, waves: 3 }; // pixels: the one shows beside the other
const UNDER = 20; // pixels from the upper edge to a name below its triangle

/** How high a panel is. */
export const heightOf = (ui, panel) => (ui.width("stars", NARROW) < NARROW ? LOW : WIDE)[panel];

const digits = (value) => value.toFixed(1);
const dots = (places) => places.map(([x, y]) => `M${digits(x)} ${digits(y)}h0.01`).join("");
const rings = (places) =>
  places.map(([x, y]) => `M${digits(x)} ${digits(y)}m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0`).join("");
const bars = (ends) =>
  ends.map(([x, up, down]) => `M${digits(x)} ${digits(up)}V${digits(down)}`).join("");

/** Shapes tell the ways apart, not colours alone. */
export const SHAPES = {
  astromer: ([x, y]) => `M${digits(x - 4.5)} ${digits(y)}l4.5 -4.5 4.5 4.5 -4.5 4.5z`,
  line: ([x, y]) => `M${digits(x - 5)} ${digits(y - 1.2)}h10v2.4h-10z`,
  waves: ([x, y]) => `M${digits(x - 4)} ${digits(y + 3.5)}h8l-4 -7z`,
};

/** An axis of magnitudes, on which brighter is up. */
function magnitudes({ curve, scales, star }, height, where) {
  const [faint, bright] = curve.ends;
  const ticks = marks([bright, faint], false, height / 40);
  return { ends: [faint, bright], ticks, label: `${where}: ${scales[star]}, brighter is up` };
}

/** All nights at places that `x` gives, once for each copy: seen, hidden, and their errors. */
function nightsAt({ curve, hidden }, frame, xs) {
  const gone = new Set(hidden);
  const places = xs.flatMap((x) => x.map((at, i) => [frame.x(at), frame.y(curve.magnitude[i])]));
  const count = curve.time.length;
  const kept = places.filter((_, i) => !gone.has(i % count));
  const away = places.filter((_, i) => gone.has(i % count));
  const spread = places.flatMap(([x], i) => {
    const night = i % count;
    const [m, sigma] = [curve.magnitude[night], curve.error[night]];
    return gone.has(night) ? [] : [[x, frame.y(m - sigma), frame.y(m + sigma)]];
  });
  return { places, paths: { seen: dots(kept), hidden: rings(away), spread: bars(spread) } };
}

/** The nights that are seen, with their errors; the dots are whole at the rim, too. */
const seenNights = ({ paths }, { clip }) => svg`<g fill="none">
    <path d=${paths.spread} clip-path=${clip} stroke=${COLOURS.seen} stroke-width="1.5"
      stroke-opacity="0.8"></path>
    <path class="cw-s-seen" d=${paths.seen} stroke=${COLOURS.seen} stroke-width="7"></path>
  </g>`;

/** Rings at what was measured on hidden nights: what is filled in shows through. */
const hiddenNights = ({ paths }) => svg`<path class="cw-s-hidden" d=${paths.hidden} fill="none"
    stroke="var(--cw-ink)" stroke-width="1.75"></path>`;

/** What a way believes of hidden nights: bars that should hold 95 % of them. */
function believed(way, beliefs, xs, frame) {
  if (!beliefs?.length) return nothing;
  const bar = (x) => beliefs.map(({ ends }, i) => [frame.x(x[i]), ...ends.map(frame.y)]);
  return svg`<path data-way=${way} clip-path=${frame.clip}
    d=${bars(xs.flatMap(bar))} fill="none" stroke=${COLOURS[way]} stroke-width=${BAR[way]}
    stroke-opacity="0.45"></path>`;
}

/** The band in which it believes the curve to run. */
function banded(way, band, frame) {
  if (!band) return nothing;
  const edge = (end) => band.map(([share, ends]) => [frame.x(share), frame.y(ends[end])]);
  const path = [...edge(0), ...edge(1).reverse()].map((point) => point.map(digits).join(" "));
  return svg`<path class="cw-s-band" data-way=${way} d="M${path.join("L")}z"
    clip-path=${frame.clip} fill=${COLOURS[way]} fill-opacity="0.22"></path>`;
}

/** What a way says of hidden nights. */
function guessed(name, guesses, xs, frame) {
  if (!guesses?.length) return nothing;
  const mark = (x) => guesses.map((m, i) => SHAPES[name]([frame.x(x[i]), frame.y(m)]));
  return svg`<path class="cw-s-guess" data-way=${name} clip-path=${frame.clip}
    fill=${COLOURS[name]} d=${xs.flatMap(mark).join("")}></path>`;
}

const ring = ([x, y]) =>
  svg`<circle cx=${x} cy=${y} r="8" fill="none" stroke="var(--cw-ink)" stroke-width="2"></circle>`;

const listening = (
  grip,
  frame,
) => svg`<rect style="cursor: crosshair" x=${frame.left} y=${frame.top}
  width=${Math.max(0, frame.right - frame.left)} height=${frame.bottom - frame.top}
  fill="transparent" @pointerdown=${grip} @pointermove=${grip} @pointerup=${grip}
  @pointercancel=${grip} @pointerleave=${grip}></rect>`;

/** Between the neighbours of each run of hidden nights, the straight line. */
function bridges({ curve, seen, hidden }) {
  const gone = new Set(hidden);
  const at = (night) => [curve.time[night], curve.magnitude[night]];
  const kept = curve.time.flatMap((_, night) => (gone.has(night) ? [] : [night]));
  return seen.time.length > 1
    ? kept.slice(1).flatMap((night, i) => (night - kept[i] > 1 ? [[at(kept[i]), at(night)]] : []))
    : [];
}

/** The chosen night, by which keys go along: a handle with a ring. */
function chosen(now, ui, { places }, grip) {
  const { night, hidden, curve } = now;
  const at = Math.max(0, night);
  const [x, y] = places[at];
  const told = night < 0 ? "No night is chosen" : `Night ${at + 1} of ${curve.time.length}`;
  return svg`<g class="cw-handle cw-s-night" tabindex="0" role="button"
    aria-roledescription="chosen night" aria-pressed=${hidden.includes(at)}
    aria-label="${told}; arrow keys choose a night, Enter hides or shows it"
    transform="translate(${x} ${y})" @keydown=${keysOnNights(ui)} @pointerdown=${grip}
    @pointermove=${grip} @pointerup=${grip} @pointercancel=${grip}>
    <circle r="12" fill="transparent"></circle>
  </g>`;
}

const seenIn = (now, where) =>
  `${now.names[now.star]}, ${now.seen.time.length} visible nights of ${now.curve.time.length}, ${where}`;

export function inTime(now, ui) {
  const { curve, hidden, span, lit, line: straight, astromer, doubted, expected } = now;
  const times = hidden.map((night) => curve.time[night]);
  const height = heightOf(ui, "time");
  const options = {
    ...{ name: "time", title: "", height, group: true },
    says: seenIn(now, `within ${number(curve.days, 0)} days`),
    x: { ends: curve.span, label: "days since the first night" },
    y: magnitudes(now, height, "Nights"),
  };
  return panel(ui, options, (frame) => {
    const nights = ui.memo("drawn in time", [curve, hidden, frame.right, frame.bottom], () =>
      nightsAt(now, frame, [curve.time]),
    );
    const grip = handOnNights(ui, frame, nights.places, { spans: true });
    const [from, to] = span?.moved ? [span.day, span.to].map(frame.x) : [0, 0];
    return svg`
      <rect x=${Math.min(from, to)} y=${frame.top} width=${Math.abs(to - from)}
        height=${frame.bottom - frame.top} fill="var(--cw-accent)" fill-opacity="0.12"></rect>
      ${bridges(now).map((points) => line(frame, points, { colour: COLOURS.line, width: 1.5, dash: "3 3" }))}
      ${believed("astromer", doubted, [times], frame)}
      ${believed("waves", expected, [times], frame)} ${seenNights(nights, frame)}
      ${guessed("line", straight, [times], frame)} ${guessed("astromer", astromer, [times], frame)}
      ${hiddenNights(nights)}
      ${lit < 0 ? nothing : ring(nights.places[lit])}
      ${listening(grip, frame)} ${chosen(now, ui, nights, grip)}`;
  });
}

export function inPhase(now, ui) {
  const { curve, hidden, lit, phases, series, folded, turn, magnitudeNow } = now;
  const { band, expected, doubt, doubted } = now;
  const twice = [phases, phases.map((share) => share + 1)];
  const asked = twice.map((shares) => hidden.map((night) => shares[night]));
  const height = heightOf(ui, "phase");
  const options = {
    ...{ name: "phase", title: "", height, group: true },
    says: seenIn(now, `folded at a period of ${days(folded)}, over two turns`),
    x: { ends: [0, 2], label: "phase, in turns" },
    y: magnitudes(now, height, "Folded"),
  };
  return panel(ui, options, (frame) => {
    const nights = ui.memo("folded", [phases, hidden, frame.right, frame.bottom], () =>
      nightsAt(now, frame, twice),
    );
    const grip = handOnNights(ui, frame, nights.places);
    const count = curve.time.length;
    return svg`${banded("astromer", doubt, frame)} ${banded("waves", band, frame)}
      ${doubt ? nothing : believed("astromer", doubted, asked, frame)}
      ${believed("waves", expected, asked, frame)}
      ${line(frame, series, { colour: COLOURS.waves, width: 2 })}
      ${seenNights(nights, frame)} ${guessed("astromer", now.astromer, asked, frame)}
      ${hiddenNights(nights)}
      ${rule(frame, { x: turn, dash: "2 3" })}
      <circle cx=${frame.x(turn)} cy=${frame.y(magnitudeNow)} r="5"
        fill="var(--cw-series-4)" stroke="var(--cw-ink)" stroke-width="1.5"></circle>
      ${lit < 0 ? nothing : [lit, lit + count].map((i) => ring(nights.places[i]))}
      ${listening(grip, frame)}`;
  });
}

/** The periodogram's highest power in each pixel. */
function skyline({ frequencies, power }, frame) {
  const highest = new Map();
  frequencies.forEach((frequency, i) => {
    const x = Math.round(2 * frame.x(frequency)) / 2;
    highest.set(x, Math.max(highest.get(x) ?? 0, power[i]));
  });
  return `M${[...highest].map(([x, p]) => `${x} ${digits(frame.y(p))}`).join("L")}`;
}

/** By how many turns a day an alias is off the highest peak; below none, it goes without its sign. */
function aliasName(alias, highest) {
  const above = Math.round(alias - highest);
  if (above > 0 && Math.abs(alias - highest - above) < 1e-9) return `+${above}`;
  const mirrored = alias + highest;
  const off = Math.abs(mirrored - Math.round(mirrored)) < 1e-9 ? mirrored : highest - alias;
  return `−${Math.round(off)}`;
}

/** Triangles at the highest peak and at its aliases, with names; who finds no room stands below. */
function marked({ peak: { frequency: f }, aliases }, frame) {
  const mark = (frequency, shape) => svg`<path class="cw-s-mark" data-frequency=${frequency}
    d="M${frame.x(frequency)} ${frame.top}${shape}" fill="var(--cw-warm)"></path>`;
  const named = [[f, "highest"], ...aliases.map((alias) => [alias, aliasName(alias, f)])];
  const labels = named.map(([frequency, text]) => ({
    text,
    middle: middleOf(text, frame.x(frequency), frame.right, SMALL),
  }));
  const above = apart(labels, SMALL);
  const below = apart(
    labels.filter((label) => !above.includes(label)),
    SMALL,
  );
  const names = (line, y) =>
    line.map(
      ({ text, middle }) => svg`<text class="cw-halo cw-s-small" style="font-size: ${SMALL}px"
        x=${middle} y=${y}
        text-anchor="middle">${text}</text>`,
    );
  return svg`${aliases.map((alias) => mark(alias, "m-3.5 0h7l-3.5 6z"))}
    ${mark(f, "m-6 0h12l-6 10z")}
    ${names(above, frame.top - 4)} ${names(below, frame.top + UNDER)}`;
}

export function inFrequency(now, ui) {
  const { spectrum, folded, within, seen, known } = now;
  const highest = known
    ? ` The highest peak lies at ${number(spectrum.peak.frequency, 4)} a day.`
    : "";
  const options = {
    ...{ name: "power", title: "", height: heightOf(ui, "power"), group: true },
    says: `Periodogram: power against frequency, of ${seen.time.length} visible nights.${highest}`,
    x: { ends: [0, within.highest], label: "Press a peak: turns a day" },
    y: { ends: [0, 1], ticks: [0, 0.5, 1], label: " " },
  };
  return panel(ui, options, (frame) => {
    const path = ui.memo("skyline", [spectrum, frame.right, frame.bottom], () =>
      skyline(spectrum, frame),
    );
    const frequency = Math.min(1 / folded, within.highest);
    const grip = {
      point: [frequency, 0],
      label: `Frequency ${number(frequency, 4)} a day, a period of ${days(folded)}`,
      kind: "movable frequency",
      moveTo: (point) => takeFrequency(ui, frame, point[0]),
      moveBy: ([across]) => stepPeriod(ui, -across),
    };
    return svg`${rule(frame, { x: frequency, colour: "var(--cw-ink)", dash: "" })}
      <path d=${path} fill="none" stroke=${COLOURS.seen} stroke-width="1.3"
        clip-path=${frame.clip}></path>
      ${known ? marked(spectrum, frame) : nothing}
      ${ground(frame, (point) => takeFrequency(ui, frame, point[0]))} ${handle(frame, grip)}`;
  });
}
