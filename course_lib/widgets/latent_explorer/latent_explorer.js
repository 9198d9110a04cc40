import { decodeRows, plain, vector } from "../kit/array.js";
import { button, choices, fold, select, slider } from "../kit/controls.js";
import { playButton } from "../kit/play.js";
import { number, percent, typingLine } from "../kit/text.js";
import { widget } from "../kit/widget.js";
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
} from "../maths/latent.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { alphabet, inflated, realInk, wordIn } from "./letters.js";
import { chartOf, letterField, map } from "./map.js";

const SECONDS = 7;
/** Each picture needs all letters from the decoder: the screen's own rate would load the page. */
const PICTURE_SECONDS = 1 / 30;
const A_TO_Z = "abcdefghijklmnopqrstuvwxyz";
const [LONGEST, FARTHEST, FROM_MIDDLE] = [14, 4, 10];
const SAME = 1e-4;
const TOOLS = { walk: "a walk", hand: "hand", arithmetic: "a sum", axes: "axes" };
const [WIDTH, PANEL] = [600, 290];
const GAP = 12;
const LITTLE = 0.0001;

/** A share of a bell, of which no part is quite none or all. */
function partly(share) {
  if (share < LITTLE) return "less than 0.01\u00a0%";
  if (share > 1 - LITTLE) return "more than 99.99\u00a0%";
  return percent(share, Math.min(share, 1 - share) < 0.01 ? 2 : 0);
}

/** Draws another code: whoever takes the point in hand ends the walk, and leaves the sum. */
const take = (ui) => (z) => {
  ui.play(false);
  ui.set({ z, tool: ui.now.tool === "axes" ? "axes" : "hand" });
};

/** Where a tool leads. */
const goal = ({ walk, share, sum, z }, tool) =>
  ({ walk: between(...walk, share), arithmetic: sum?.code })[tool] ?? z;

/** Real letters come a moment later, for the browser inflates them by and by. */
function lettersOf({ faces }, ui) {
  return ui.memo("letters", [faces], () => {
    const arriving = { levels: null };
    inflated(faces.pictures).then((levels) => {
      arriving.levels = levels;
      // The complaint about an address stays, which any other change withdraws.
      ui.set({ refused: ui.now.refused });
    });
    return arriving;
  });
}

function derive(now, ui) {
  const { facts, faces, families, weights, z, plane } = now;
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
  const walk = [codes[now.start], codes[now.end]];
  const led = { ...now, walk, sum };
  // Whatever has moved the point from where the tool leads, it is in the reader's hand.
  const there = distance(goal(led, now.tool), z) < SAME;
  const tool = there ? now.tool : "hand";
  const shown = tool === "arithmetic" && sum.both >= 0 ? sum.both : closest;
  const { levels } = lettersOf(now, ui);
  const point = { decoder, codes, directions, chart, walk, walking: tool === "walk" };
  return {
    ...{ ...point, sum, sums, at, shown, levels, tool },
    ink: memo("ink", [decoder, z], () => decodeAlphabet(decoder, z)),
    field: letterField({ ...now, ...point }, ui),
    real: levels && memo("real", [levels, shown], () => realInk(levels, shown)),
    place: projected(z, directions),
    norm: Math.hypot(...z),
  };
}

/** What is drawn, and what stands beside it. */
const drawnWhat = ({ at, faces }) =>
  at < 0 ? "a new alphabet; no typeface lies here" : faces.names[at];
function besideWhat({ shown, faces, codes, z }) {
  const seen = faces.held[shown] === "1" ? "held out of training" : "used in training";
  return `${faces.names[shown]}, ${seen}, ${number(distance(codes[shown], z))} away`;
}

function wordLine({ word }, ui) {
  const problemOf = (text) => {
    if (!text) return "Type one letter at least, of a to z.";
    return text.length > LONGEST ? `There is room for ${LONGEST} letters.` : "";
  };
  const accept = (text) => ui.set({ word: text });
  const read = { alphabet: A_TO_Z, drops: true };
  const typing = { label: "Your word", ...read, problemOf, still: word, accept };
  return typingLine(ui, "word", typing);
}

/** The word at the point in hand. */
function letters(now, ui) {
  const { word, ink } = now;
  const drawn = { word, width: ui.width("word", WIDTH), label: `${word}, as the decoder draws it` };
  return html`<div data-z=${now.z.join(" ")} data-measure="word">
    ${wordIn(ui, "drawn", ink, drawn)}
    <div class="cw-row cw-x-said">
      <p>${now.at < 0 ? "Drawn" : "Drawn again"}: <strong>${drawnWhat(now)}</strong></p>
      ${wordLine(now, ui)}
    </div>
  </div>`;
}

/** The word in the real letters of a typeface. */
function realWord({ levels, word, faces }, ui, [name, place, width]) {
  if (!levels) return nothing;
  const ink = ui.memo(`real ${name}`, [levels, place], () => realInk(levels, place));
  return wordIn(ui, name, ink, { word, width, label: `${word} in ${faces.names[place]}, real` });
}

/** All letters of both, for who wants to see more than a word. */
const alphabets = ({ ink, real, faces, shown }, ui) => html`<div class="cw-pair">
  <figure><figcaption>drawn</figcaption>
    ${alphabet(ui, "drawn", ink, "The 26 letters that the decoder draws")}</figure>
  <figure><figcaption>${faces.names[shown]}, real</figcaption>
    ${real ? alphabet(ui, "real", real, "The real letters") : nothing}</figure>
</div>`;

const away = ({ norm, facts }) => html`<p class="cw-readout"><strong>${number(norm)}</strong>
  from the middle: <span>${partly(shareWithin(norm, facts.d_z))}</span> of the prior’s draws lie
  nearer.</p>`;

function fartherOut(now, ui) {
  const { facts } = now;
  return html`${away(now)}<div class="cw-controls">
      ${slider(ui, "norm", {
        ...{ label: "‖z‖", min: 0.1, max: FROM_MIDDLE, step: 0.1, format: number },
        set: (radius) => take(ui)(atDistance(ui.now.z, radius)),
      })}
      ${select(ui, "plane", {
        label: "Map",
        options: facts.planes.map(({ title }, i) => [i, title]),
      })}
    </div>`;
}

const how = ({
  facts,
  plane,
}) => html`<span class="cw-x-made">A drag moves the code along two of its
  ${facts.d_z} directions: ${facts.planes[plane].told}. The others stay. Outside the circle it is
  farther from the middle than 99 % of the prior’s draws. The other directions may take it as far
  within the circle: wherever it is so, the ring is orange.</span> Faint letters: an a, as the decoder
  draws it there. Large dots: their real letters are
  here. Hollow: held out of training. Grey: the name says none of the four.`;

/** How far the sum of codes is from the truth, and what adding has brought. */
function summed({ sum, codes }) {
  if (sum.both < 0) return nothing;
  const far = (code) => number(distance(code, codes[sum.both]));
  const [, bold, italic] = sum.parts;
  return html`<p class="cw-hint cw-x-summed">The sum is <b>${far(sum.code)}</b> from the real bold
    italic; bold alone <b>${far(codes[bold])}</b>, italic <b>${far(codes[italic])}</b>.</p>`;
}

const PANEL_OF = {
  walk(now, ui) {
    const { facts, faces, share, start, end } = now;
    const ends = faces.names.slice(0, facts.real).map((name, i) => [i, name]);
    const width = ui.width("panel", PANEL);
    const go = (changes) => {
      ui.play(false);
      ui.set(changes);
      ui.set({ z: goal(ui.now, "walk") });
    };
    const side = (name, label, place) => html`<div>
      ${select(ui, name, { label, options: ends, choose: (i) => go({ [name]: i }) })}
      ${realWord(now, ui, [name, place, width])}</div>`;
    const way = { label: "Way", min: 0, max: 1, step: 0.01, value: share, format: percent };
    return html`<div class="cw-x-ends">${side("start", "From", start)}${side("end", "to", end)}</div>
      <div class="cw-controls cw-x-walk">
        ${slider(ui, "share", { ...way, set: (value) => go({ share: value }) })}
        ${playButton(ui, { start: "Walk", stop: "❚❚ Pause" })}
      </div>`;
  },
  hand(now, ui) {
    const { facts, faces, shown } = now;
    const draw = () => {
      take(ui)(normals(facts.d_z, ui.now.seed));
      ui.set({ seed: ui.now.seed + 1 });
    };
    return html`<p class="cw-x-beside" style="margin: 0 0 0.4rem; font-size: 0.92em">
      <strong>Nearest large dot</strong>: ${besideWhat(now)}</p>
      ${realWord(now, ui, ["nearest", shown, ui.width("panel", PANEL)])}
      <div class="cw-controls">
        ${select(ui, "at", {
          label: "Go to",
          options: [[-1, "a typeface"], ...faces.names.map((name, i) => [i, name])],
          choose: (i) => i >= 0 && take(ui)(ui.now.codes[i]),
        })}
        ${button("Draw from the prior", draw)}
      </div>`;
  },
  arithmetic(now, ui) {
    const { families, faces, sum } = now;
    const choose = (chosen) => {
      ui.set({ family: chosen });
      ui.set({ z: ui.now.sums[chosen].code });
    };
    const width = (ui.width("panel", PANEL) - GAP) / 2;
    const style = (place) => faces.names[place].slice(sum.title.length + 1).toLowerCase();
    const part = ([sign, place]) => html`<div><span>${sign}<small>${style(place)}</small></span>
      ${realWord(now, ui, [`part ${sign}`, place, width])}</div>`;
    const [regular, bold, italic] = sum.parts;
    const real = sum.both < 0 ? [] : [["the real ", sum.both]];
    const parts = [["", bold], ["− ", regular], ["+ ", italic], ...real];
    const titles = families.map(({ title }, i) => [i, title]);
    const family = select(ui, "family", { label: "Family", options: titles, choose });
    return html`${titles.length > 1 ? html`<div class="cw-controls">${family}</div>` : nothing}
      <div class="cw-pair cw-x-sum">${parts.map(part)}</div>${summed(now)}`;
  },
  axes({ facts, z }, ui) {
    const axis = ([i, nats]) =>
      slider(ui, `axis ${i}`, {
        ...{ label: `z${i + 1}, ${number(nats)} nats`, min: -FARTHEST, max: FARTHEST, step: 0.1 },
        ...{ value: z[i], format: number },
        set: (value) => take(ui)(ui.now.z.map((x, k) => (k === i ? value : x))),
      });
    return html`<div class="cw-controls cw-x-axes">${facts.axes.map(axis)}</div>
      <p class="cw-hint">The axes that say most of a style: so much, in nats, a cloud differs on each from
        one that says nothing (mean of ${facts.typefaces} typefaces; all ${facts.d_z} axes:
        ${number(facts.nats)}).</p>`;
  },
};

function view(now, ui) {
  const offered = Object.entries(TOOLS).filter(([t]) => t !== "arithmetic" || now.families.length);
  const choose = (tool) => {
    ui.play(false);
    ui.set({ tool });
    ui.set({ z: goal(ui.now, tool) });
  };
  return html`${letters(now, ui)}
    <div class="cw-columns">
      <div>${map(now, ui, take(ui))}</div>
      <div>
        ${choices(ui, "tool", { label: "Go by", options: offered, choose })}
        <div class="cw-x-panel" data-measure="panel">${PANEL_OF[now.tool](now, ui)}</div>
      </div>
    </div>
    ${fold("All 26 letters, drawn and real", alphabets(now, ui))}
    ${fold("Distance from the middle, other maps", fartherOut(now, ui))}`;
}

export default widget({
  label: "Latent explorer: a map of typefaces, and the letters at any point of it",
  name: "cw-latent",
  data: { facts: plain, faces: plain, families: plain, weights: plain },
  controls: {
    ...{ z: vector, word: plain, plane: plain, tool: plain, start: plain, end: plain },
    ...{ share: plain, family: plain },
  },
  local: { hovered: -1, held: null, typed: null, seed: 1, back: false, waited: 0 },
  along: (asked, now, ui) =>
    ["tool", "start", "end", "share", "family"].some((name) => name in asked)
      ? { z: goal({ ...now, ...derive(now, ui) }, now.tool) }
      : {},
  atSight: (ui) => ui.now.tool === "walk" && ui.play(true),
  derive,
  view,
  words: (now) =>
    `The decoder draws the code of ${drawnWhat(now)}, ${number(now.norm)} from the middle. ` +
    (now.walking
      ? `It is on a walk from ${now.faces.names[now.start]} to ` + `${now.faces.names[now.end]}.`
      : `Beside it stands ${besideWhat(now)}.`),
  how,
  began: ({ tool }) => `where it began: ${TOOLS[tool]}`,
  advance: ({ share, back, waited }, ui, seconds) => {
    const passed = waited + seconds;
    if (passed < PICTURE_SECONDS) return ui.set({ waited: passed });
    const next = share + ((back ? -1 : 1) * passed) / SECONDS;
    const there = Math.max(0, Math.min(1, next));
    return ui.set({
      waited: 0,
      share: there,
      back: next >= 1 || (back && next > 0),
      z: between(...ui.now.walk, there),
    });
  },
});
