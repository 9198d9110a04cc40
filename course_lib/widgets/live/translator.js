// Where a translator looks while it writes a number piece by piece: units before tens.

import { handle, panel } from "../kit/charts.js";
import { button } from "../kit/controls.js";
import { readableOn, widest } from "../kit/lettering.js";
import { pointIn } from "../kit/plane.js";
import { number, typingLine } from "../kit/text.js";
import { inEnglish, inGerman } from "../maths/number_words.js";
import { clamp, ranking, upTo } from "../maths/numerics.js";
import { translate, unpackTranslator } from "../maths/translator.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure, onTour } from "./live_figure.js";

const [TYPE, HEIGHT, HEAD, GAP] = [13, 300, 74, 10];
const [FAINT, THICKEST, SEEN] = [0.15, 9, 0.02];
/** So much wider is a piece in bold letters, at most. */
const BOLDER = 8;
/** A cell holds its weight in digits of this size, in pixels, if it is as wide and as high. */
const [DIGITS, HOLDS] = [12, { width: 30, height: 15 }];
const [MARK, END] = ["·", "⏎"];
const [POINTED, OTHER] = ["var(--cw-warm)", "var(--cw-accent)"];

/** A number's words, the pieces that the network writes, and how much each looks at each word. */
function written(net, asked) {
  const words = inEnglish(asked);
  const { pieces, looks } = translate(net, words);
  const most = looks.map((row) => ranking(row)[0]);
  return {
    words,
    pieces: pieces.map((piece) => (piece === MARK ? END : piece)),
    rows: looks,
    most,
  };
}

function derive({ number: asked, place, network }, ui) {
  const net = ui.memo("net", [network], () => unpackTranslator(network));
  const told = ui.memo("written", [net, asked], () => written(net, asked));
  return { ...told, net, at: Math.min(place, told.pieces.length - 1), right: inGerman(asked) };
}

const turn = (ui, place) => ui.set({ place: clamp(place, 0, ui.now.pieces.length - 1) });

/** Where the pieces stand, one below the other, and which of them is under a hand. */
function listed({ pieces }, ui, top, bottom) {
  const tall = (bottom - top) / pieces.length;
  const rowAt = (y) => clamp(Math.floor((y - top) / tall), 0, pieces.length - 1);
  const point = (event) => {
    const row = rowAt(pointIn(event)[1]);
    if (row !== ui.now.at) turn(ui, row);
  };
  const ground = ({ left, right }) => svg`<rect x=${left} y=${top} width=${right - left}
    height=${bottom - top} fill="transparent" @pointermove=${point} @click=${point}></rect>`;
  return { tall, rowAt, ground, middle: (row) => top + (row + 0.5) * tall };
}

const tone = ({ at }, row) => (row === at ? "warm" : "accent");
const shade = ({ at }, row) => (row === at ? POINTED : OTHER);
/** While it writes, what is still to come is not there. */
const ahead = ({ tour }) => (tour ? 0 : FAINT);
const opacity = (now, row) => (row > now.at ? ahead(now) : row < now.at ? 0.6 : 1);
const isSeen = (now, row) => opacity(now, row) > 0;
const named = (x, y, text, { anchor = "start", bold = false, late = false, seen = true } = {}) =>
  svg`<text visibility=${seen ? "visible" : "hidden"} x=${x} y=${y + 0.35 * TYPE}
    text-anchor=${anchor} style="font-size: ${TYPE}px;
    font-weight: ${bold ? 700 : 500}; fill: var(${late ? "--cw-muted" : "--cw-ink"})">${text}</text>`;

const bare = { ends: [0, 1], ticks: [] };

function paths(now, ui) {
  const { words, pieces, rows, at, most } = now;
  const options = {
    name: "paths",
    title: "From the words to the pieces",
    says: `${words.join(" ")}; written ${pieces.slice(0, at + 1).join(" ")}, the last looking most
      at ${words[most[at]]}`,
    ...{ x: bare, y: bare, height: HEIGHT, group: true },
  };
  return panel(ui, options, (frame) => {
    const [top, bottom] = [frame.top, frame.bottom];
    const list = listed(now, ui, top, bottom);
    const [left, right] = [frame.left + GAP, frame.right - GAP];
    const from = left + widest(words, TYPE) + 1.5 * GAP;
    const to = right - widest(pieces, TYPE) - 1.5 * GAP;
    const high = (i) => top + ((i + 0.5) * (bottom - top)) / words.length;
    const ways = (row) =>
      rows[row].map((weight, i) => {
        const [y0, y1, middle] = [high(i), list.middle(row), (from + to) / 2];
        return weight < SEEN
          ? ""
          : svg`<path d="M${from} ${y0}C${middle} ${y0} ${middle} ${y1} ${to} ${y1}" fill="none"
            stroke=${shade(now, row)} stroke-width=${THICKEST * weight}
            stroke-opacity=${opacity(now, row)}></path>`;
      });
    const order = [...upTo(pieces.length).filter((row) => row !== at), at];
    return svg`${words.map(
      (word, i) => svg`<rect x=${left - 5} y=${high(i) - 12} height="24" rx="5" fill=${POINTED}
        width=${from - left} fill-opacity=${0.55 * rows[at][i]}></rect>
        ${named(left, high(i), word, { bold: i === most[at] })}`,
    )}
      ${order.map(ways)}
      ${pieces.map((piece, row) =>
        named(right, list.middle(row), piece, {
          ...{ anchor: "end", bold: row === at, late: row > at },
          seen: isSeen(now, row),
        }),
      )}${list.ground(frame)}`;
  });
}

function map(now, ui) {
  const { words, pieces, rows, at } = now;
  const options = {
    name: "map",
    title: "Cross-attention",
    says: `Map of ${pieces.length} pieces by ${words.length} words, the deeper the larger the weight`,
    ...{ x: bare, y: bare, height: HEIGHT, group: true },
  };
  return panel(ui, options, (frame) => {
    const [top, bottom] = [frame.top + HEAD, frame.bottom];
    const list = listed(now, ui, top, bottom);
    const left = frame.left + widest(pieces, TYPE) + 3 * GAP + BOLDER;
    const wide = (frame.right - left) / words.length;
    const upright = (word, i) => {
      const x = left + (i + 0.5) * wide + 0.35 * TYPE;
      return svg`<text transform="translate(${x} ${top - 6}) rotate(-90)"
        style="font-size: ${TYPE}px; fill: var(--cw-ink)">${word}</text>`;
    };
    const holds = wide >= HOLDS.width && list.tall >= HOLDS.height;
    const cell = (weight, i, row) => {
      const depth = Math.sqrt(weight) * opacity(now, row);
      const [paper, ink] = ["panel", tone(now, row)].map(ui.theme.rgb);
      const ground = paper.map((part, k) => part + depth * (ink[k] - part));
      const told = svg`<text data-weight=${weight} text-anchor="middle" x=${left + (i + 0.5) * wide}
        y=${list.middle(row) + 0.35 * DIGITS}
        style="font-size: ${DIGITS}px; fill: ${readableOn(ground)}">${number(weight)}</text>`;
      return svg`<rect x=${left + i * wide + 1} width=${wide - 2}
        y=${list.middle(row) - list.tall / 2 + 1} height=${list.tall - 2} rx="2"
        fill=${shade(now, row)} fill-opacity=${depth}></rect>
        ${holds && isSeen(now, row) ? told : nothing}`;
    };
    const y = list.middle(at);
    return svg`${words.map(upright)}
      ${rows.map((row, r) => row.map((weight, i) => cell(weight, i, r)))}
      ${pieces.map((piece, row) =>
        named(left - GAP, list.middle(row), piece, {
          ...{ anchor: "end", bold: row === at, late: row > at },
          seen: isSeen(now, row),
        }),
      )}${list.ground(frame)}
      ${handle(
        frame,
        {
          point: frame.at([frame.left + GAP, y]),
          label: `piece ${pieces[at]}`,
          kind: "movable piece",
          moveTo: ([, share]) => turn(ui, list.rowAt(frame.y(share))),
          moveBy: ([right, up]) => turn(ui, ui.now.at + right - up),
        },
        svg`<path d="M-7 -7L7 0L-7 7Z" fill=${POINTED}></path>`,
      )}`;
  });
}

const LARGEST = 9999;
const problemOf = (text) =>
  /^[1-9]\d{0,3}$/.test(text) ? "" : `Type a whole number from 1 to ${LARGEST}.`;

/** Among the numbers below 100, where most mistakes are, the next that is translated wrongly. */
function mistakeAfter({ number: asked, net }) {
  const others = upTo(99).map((i) => 1 + ((asked + i) % 99));
  return others.find((one) => wordOf(written(net, one)) !== inGerman(one)) ?? asked;
}

/** Another number is written from its first piece; without motion it stands there whole. */
function chooser(now, ui, again) {
  const choose = (number) => {
    ui.set({ number });
    turn(ui, lastOf(ui.now));
    again(true);
  };
  const drawn = () => 1 + ((now.number + Math.floor((LARGEST - 1) * Math.random())) % LARGEST);
  return onTour(html`${button("Another number", () => choose(drawn()))}
    ${button("A mistake", () => choose(mistakeAfter(ui.now)))}
    ${typingLine(ui, "number", {
      ...{ label: "Number", problemOf, still: now.number, mode: "numeric" },
      accept: (text) => choose(Number(text)),
    })}`);
}

const lastOf = ({ pieces }) => pieces.length - 1;
const wordOf = ({ pieces }) => pieces.filter((piece) => piece !== END).join("");
/** The first of the earlier pieces that has looked at a word further on, if a piece goes back. */
const aheadOf = ({ most }, row) => most.slice(0, row).findIndex((word) => word > most[row]);
const goesBack = (now, row) => aheadOf(now, row) >= 0;

function verdict(now) {
  const { words, pieces, most, at, right } = now;
  if (at === lastOf(now)) {
    const back = pieces.some((piece, row) => piece !== END && goesBack(now, row));
    const answer = back ? "No, it goes back" : "Yes";
    return wordOf(now) === right
      ? { kind: "good", text: `${answer}. And what it wrote is right` }
      : { kind: "bad", text: `${answer}. But what it wrote is wrong` };
  }
  const turned = goesBack(now, at) ? "↰ back: " : "";
  return { kind: "open", text: `${turned}${pieces[at]} looks at ${words[most[at]]}` };
}

function says(now) {
  const { words, pieces, most, at, right } = now;
  if (at === lastOf(now)) {
    return wordOf(now) === right ? `It has written ${right}.` : `Right is ${right}.`;
  }
  const look = `Before it writes ${pieces[at]}, it looks most at ${words[most[at]]}.`;
  const earlier = aheadOf(now, at);
  const turned =
    earlier < 0
      ? ""
      : ` It has gone back: ${words[most[earlier]]} stands behind, and ${pieces[earlier]} came before.`;
  return `${look}${turned}`;
}

/** What is told at each piece. */
const longest = (now) => now.pieces.map((_, at) => says({ ...now, at }));

export default liveFigure({
  derive,
  chooser,
  longest,
  panels: (now, ui) => [paths(now, ui), map(now, ui)],
  asks: "Does it read from left to right?",
  verdict,
  readings: ({ rows, most, at, words }) => [
    {
      name: "most",
      label: `Weight on ${words[most[at]]}`,
      text: number(rows[at][most[at]], 3),
    },
  ],
  says,
  local: { typed: null },
  began: ({ number, place }) => `${number}, piece ${place + 1}`,
  tour: { knob: "place", from: 0, to: lastOf, seconds: 7 },
});
