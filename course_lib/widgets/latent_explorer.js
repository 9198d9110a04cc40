import { decodeRows, plain, vector } from "./js/array.js";
import { button, choices, fold, select, slider } from "./js/controls.js";
import { alphabet, inflated, realInk, wordIn } from "./js/latent_explorer/letters.js";
import { chartOf, map } from "./js/latent_explorer/map.js";
import {
  arithmetic,
  atDistance,
  between,
  decodeAlphabet,
  distance,
  nearest,
  normals,
  projected,
  shareWithin,
  unpackCodes,
  unpackDecoder,
} from "./js/maths/latent.js";
import { playAtOnce, playButton } from "./js/play.js";
import { number, spelled, typingLine } from "./js/text.js";
import { html, nothing } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const SECONDS = 7;
const A_TO_Z = "abcdefghijklmnopqrstuvwxyz";
const [LONGEST, FARTHEST, FROM_MIDDLE] = [14, 4, 10];
const SAME = 1e-4;
const TOOLS = { walk: "a walk", arithmetic: "arithmetic", axes: "single axes" };
const [WIDTH, WORD] = [400, 0.6]; // of it, a word beside its name
const LITTLE = 0.0001;

const percent = (share) => `${number(100 * share, 0)} %`;

/** A share of a bell, of which no part is quite none or all. */
function partly(share) {
  if (share < LITTLE) return "less than 0.01 %";
  if (share > 1 - LITTLE) return "more than 99.99 %";
  return `${number(100 * share, Math.min(share, 1 - share) < 0.01 ? 2 : 0)} %`;
}

/** Draws another code: whoever takes the point in hand ends the walk. */
const take = (ui) => (z) => {
  ui.play(false);
  ui.set({ z });
};

/** Where the tool at hand leads. */
const goal = ({ tool, walk, share, sum, z }) =>
  ({ walk: between(...walk, share), arithmetic: sum?.code, axes: z })[tool];

/** Real letters come a moment later, for the browser inflates them by and by. */
function lettersOf({ faces }, ui) {
  return ui.memo("letters", [faces], () => {
    const arriving = { levels: null };
    inflated(faces.pictures).then((levels) => {
      arriving.levels = levels;
      ui.set({});
    });
    return arriving;
  });
}

function derive(now, ui) {
  const { facts, faces, families, weights, z, plane, tool } = now;
  const { memo } = ui;
  const count = faces.names.length;
  const decoder = memo("decoder", [weights], () => unpackDecoder(facts, weights));
  const codes = memo("codes", [faces], () => unpackCodes(faces.codes, count, facts.d_z));
  const directions = memo("plane", [facts, plane], () =>
    decodeRows(facts.planes[plane].directions),
  );
  const chart = memo("chart", [codes, directions], () =>
    chartOf({ codes, directions, edge: facts.edge, kinds: faces.kinds, count: facts.kinds.length }),
  );
  const sums = memo("sums", [families, codes], () =>
    families.map(({ title, places, both }) => ({
      ...{ title, both, parts: places },
      code: arithmetic(places.map((i) => codes[i])),
    })),
  );
  const sum = sums[now.family];
  const closest = memo("closest", [codes, z], () => nearest(codes.slice(0, facts.real), z));
  const at = codes.findIndex((code) => distance(code, z) < SAME);
  const shown = tool === "arithmetic" && sum.both >= 0 ? sum.both : closest;
  const { levels } = lettersOf(now, ui);
  return {
    ...{ codes, directions, chart, sum, at, shown, levels },
    ink: memo("ink", [decoder, z], () => decodeAlphabet(decoder, z)),
    real: levels && memo("real", [levels, shown], () => realInk(levels, shown)),
    place: projected(z, directions),
    norm: Math.hypot(...z),
    walk: [codes[now.start], codes[now.end]],
  };
}

/** What is drawn, and what stands beside it. */
const drawnWhat = ({ at, faces }) =>
  at < 0 ? "a code that no typeface here has" : `the code of ${faces.names[at]}`;
function besideWhat({ shown, faces, codes, z }) {
  const seen = faces.held[shown] === "1" ? "held out of training" : "used in training";
  return `${faces.names[shown]}, ${seen}; its code is ${number(distance(codes[shown], z))} away`;
}

const besideTitle = ({ tool, sum, shown, facts }) =>
  tool === "arithmetic" && shown === sum.both
    ? "Real letters"
    : `Nearest of the ${facts.real} whose letters are here (large dots)`;

function letters(now, ui) {
  return html`<div class="cw-x-letters" data-z=${now.z.join(" ")}>
    <p><strong>Drawn by the decoder</strong> from ${drawnWhat(now)}</p>
    ${alphabet(ui, "drawn", now.ink, "The 26 letters that the decoder draws")}
    <p><strong>${besideTitle(now)}</strong>: ${besideWhat(now)}</p>
    ${now.real ? alphabet(ui, "real", now.real, "The real letters") : nothing}
  </div>`;
}

function wordLine({ ink, word }, ui) {
  const problemOf = (text) => {
    if (!text) return "Type one letter at least, of a to z.";
    const strange = [...new Set(text)].filter((letter) => !A_TO_Z.includes(letter));
    if (strange.length) return `The decoder draws a to z, but no ${spelled(strange, ", ")}.`;
    return text.length > LONGEST ? `There is room for ${LONGEST} letters.` : "";
  };
  const accept = (text) => ui.set({ word: text });
  const label = `${word}, as the decoder draws it`;
  const typing = { label: "Your word", alphabet: A_TO_Z, problemOf, still: word, accept };
  return html`${typingLine(ui, "word", typing)}
    <div data-measure="word">
      ${wordIn(ui, "drawn", ink, { word, width: ui.width("word", WIDTH), label })}
    </div>`;
}

const away = ({ norm, facts }) => html`<p class="cw-readout"><strong>${number(norm)}</strong>
  from the middle: <span>${partly(shareWithin(norm, facts.d_z))}</span> of the prior’s draws lie
  nearer.</p>`;

function underMap({ facts, faces }, ui) {
  const draw = () => {
    take(ui)(normals(facts.d_z, ui.now.seed));
    ui.set({ seed: ui.now.seed + 1 });
  };
  const more = html`<div class="cw-controls">
      ${slider(ui, "norm", {
        ...{ label: "‖z‖", min: 0.1, max: FROM_MIDDLE, step: 0.1, format: number },
        set: (radius) => take(ui)(atDistance(ui.now.z, radius)),
      })}
      ${button("Draw from the prior", draw)}
      ${select(ui, "at", {
        label: "Go to",
        options: [[-1, "a typeface"], ...faces.names.map((name, i) => [i, name])],
        choose: (i) => i >= 0 && take(ui)(ui.now.codes[i]),
      })}
      ${select(ui, "plane", {
        label: "Map",
        options: facts.planes.map(({ title }, i) => [i, title]),
      })}
    </div>`;
  return fold("Other ways to a point, other maps", more);
}

const how = ({
  facts,
  plane,
}) => html`<span class="cw-x-made">A drag moves the code along two of its
  ${facts.d_z} directions: ${facts.planes[plane].told}. The others stay. Outside the circle it is
  farther from the middle than 99 % of the prior’s draws.</span> Large dots: their real letters are
  here. Hollow: held out of training. Grey: the name says none of the four.`;

/** How far the sum of codes is from the truth, and what adding has brought. */
function summed({ tool, sum, codes, faces }) {
  if (tool !== "arithmetic") return nothing;
  const lead = "Bold − regular + italic, number by number.";
  if (sum.both < 0) return html`<p class="cw-hint cw-x-summed">${lead}</p>`;
  const far = (code) => number(distance(code, codes[sum.both]));
  const [, bold, italic] = sum.parts;
  return html`<p class="cw-hint cw-x-summed">${lead} It lies <b>${far(sum.code)}</b> from the code of
    the real ${faces.names[sum.both]}; bold alone lies <b>${far(codes[bold])}</b> away from that,
    italic <b>${far(codes[italic])}</b>.</p>`;
}

const TOOL = {
  walk({ facts, faces, share }, ui) {
    const ends = faces.names.slice(0, facts.real).map((name, i) => [i, name]);
    const go = (changes) => {
      ui.play(false);
      ui.set(changes);
      ui.set({ z: between(...ui.now.walk, ui.now.share) });
    };
    const end = (name, label) =>
      select(ui, name, { label, options: ends, choose: (i) => go({ [name]: i }) });
    const way = { label: "Way", min: 0, max: 1, step: 0.01, value: share, format: percent };
    return html`<div class="cw-controls cw-x-walk">
      ${end("start", "From")} ${end("end", "to")}
      ${slider(ui, "share", { ...way, set: (value) => go({ share: value }) })}
      ${playButton(ui, { start: "Walk", stop: "❚❚ Pause" })}
    </div>`;
  },
  arithmetic({ families, faces, sum, levels, word, z }, ui) {
    const choose = (chosen) => {
      ui.set({ family: chosen });
      take(ui)(ui.now.sum.code);
    };
    const width = Math.floor(WORD * ui.width("word", WIDTH));
    const part = (place, i) => {
      const label = faces.names[place];
      const real = levels && ui.memo(`real ${i}`, [levels, place], () => realInk(levels, place));
      return html`<div><span>${["", "− ", "+ "][i]}<small>${label}</small></span>
        ${real ? wordIn(ui, `part ${i}`, real, { word, width, label }) : nothing}</div>`;
    };
    const [regular, bold, italic] = sum.parts;
    const titles = families.map(({ title }, i) => [i, title]);
    const family = { label: "Family", options: titles, choose };
    const back = () => take(ui)(ui.now.sum.code);
    return html`<div class="cw-controls">
        ${titles.length > 1 ? select(ui, "family", family) : nothing}
        ${distance(sum.code, z) < SAME ? nothing : button("Back to the sum", back)}
      </div>
      <div class="cw-x-sum">${[bold, regular, italic].map(part)}</div>`;
  },
  axes({ facts, z }, ui) {
    const axis = ([i, nats]) =>
      slider(ui, `axis ${i}`, {
        ...{ label: `z${i + 1}, ${number(nats)} nats`, min: -FARTHEST, max: FARTHEST, step: 0.1 },
        ...{ value: z[i], format: number },
        set: (value) => take(ui)(ui.now.z.map((x, k) => (k === i ? value : x))),
      });
    return html`<div class="cw-controls cw-x-axes">${facts.axes.map(axis)}</div>
      <p class="cw-hint">The axes that cost most: KL of one typeface’s cloud from the prior, mean of
        ${facts.typefaces}. All ${facts.d_z} cost ${number(facts.nats)} nats.</p>`;
  },
};

function view(now, ui) {
  if (now.moving && now.tool === "walk") playAtOnce(ui);
  const offered = Object.entries(TOOLS).filter(([t]) => t !== "arithmetic" || now.families.length);
  const choose = (tool) => {
    ui.set({ tool });
    take(ui)(goal(ui.now));
  };
  return html`<div class="cw-columns">
      <div>${map(now, ui, take(ui))}</div>
      ${letters(now, ui)}
    </div>
    <div class="cw-columns cw-x-below">
      <div>
        ${choices(ui, "tool", { label: "Go by", options: offered, choose })}
        ${TOOL[now.tool](now, ui)} ${wordLine(now, ui)}
      </div>
      <div>${away(now)} ${summed(now)} ${underMap(now, ui)}</div>
    </div>`;
}

export default widget({
  label: "Latent explorer: a map of typefaces, and the letters at any point of it",
  name: "cw-latent",
  data: { facts: plain, faces: plain, families: plain, weights: plain, moving: plain },
  controls: {
    ...{ z: vector, word: plain, plane: plain, tool: plain, start: plain, end: plain },
    ...{ share: plain, family: plain },
  },
  local: { hovered: -1, held: null, typed: null, seed: 1, back: false },
  along: (asked, now, ui) =>
    ["tool", "start", "end", "share", "family"].some((name) => name in asked)
      ? { z: goal({ ...now, ...derive(now, ui) }) }
      : {},
  derive,
  view,
  words: (now) =>
    `The decoder draws ${drawnWhat(now)}, ${number(now.norm)} from the middle. Beside it stands ` +
    `${besideWhat(now)}.`,
  how,
  began: ({ faces, start, end }) => `a walk from ${faces.names[start]} to ${faces.names[end]}`,
  advance: ({ share, back }, ui, seconds) => {
    const next = share + ((back ? -1 : 1) * seconds) / SECONDS;
    const there = Math.max(0, Math.min(1, next));
    ui.set({
      share: there,
      back: next >= 1 || (back && next > 0),
      z: between(...ui.now.walk, there),
    });
  },
});
