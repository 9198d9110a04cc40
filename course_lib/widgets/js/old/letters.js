import { html, number, say, setChanged, showFirst, svg, uniqueId } from "./dom.js";

export const visible = (letter) => ({ " ": "␣", "\n": "⏎" })[letter] ?? letter;
export const firstNumbers = (count) => Array.from({ length: count }, (_, i) => i);
export const clamped = (value, low, high) => Math.max(low, Math.min(high, value));
export const three = (value) => number(value, 3);

const MOVES = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };

/** The arrow keys, Home and End move, as on a slider; Enter does what `onEnter` does. */
export function walk(element, moveBy, onEnter) {
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && onEnter) onEnter();
    else if (MOVES[event.key]) moveBy(MOVES[event.key]);
    else return;
    event.preventDefault();
  });
}

/** What keeps the model from reading a text of letters that it does not know; nothing if it can. */
export function unknownLetters(typed, known) {
  const strange = [...new Set(typed)].filter((letter) => !known.includes(letter));
  return strange.length ? `The model has never seen ${strange.map(visible).join(", ")}. It knows ${known.map(visible).join(" ")}.` : "";
}

/** A line to type in, bound to a trait; beside it stands what keeps the model from reading it. */
export function typingLine(model, trait, { label, problemOf, accept, refuse }) {
  const [id, messageId] = [uniqueId("cw-text"), uniqueId("cw-message")];
  const field = html("input", { id, type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "aria-describedby": messageId });
  const message = html("span", { id: messageId, class: "cw-complaint", role: "status" });
  field.addEventListener("input", () => {
    if (problemOf(field.value)) refuse();
    else accept(field.value);
  });
  const follow = () => {
    if (field.value !== model.get(trait)) field.value = model.get(trait);
  };
  follow();
  model.on(`change:${trait}`, follow);

  /** Says what is wrong and what the picture shows meanwhile; whether anything is. */
  function judge(still) {
    const problem = problemOf(field.value);
    say(message, problem && `${problem} Below you still see ${still}.`);
    setChanged(field, { "aria-invalid": problem !== "" });
    return problem !== "";
  }
  const line = html("div", { class: "cw-typing" }, html("label", { for: id }, label), field, message);
  return { line, judge, stop: () => model.off(`change:${trait}`, follow) };
}

const LEFT = 30;
const NARROWEST = 11;
const WIDEST = 30;
const TOPS = [0.1, 0.25, 0.5, 1];
const [ABOVE, BELOW] = [14, 24];
const LOWEST = 30;

/**
 * Two bars for each letter of the alphabet: outlined its share `own`, filled that of `choice`, as
 * `chooseAmong` of tiny_gpt.js gives it. A click or Enter takes a letter, the mouse previews one.
 */
export function letterBars(names, title, handlers) {
  const drawing = svg("svg", { role: "slider", tabindex: 0, "aria-label": title, "aria-valuemin": 1, "aria-valuemax": names.length });
  const axis = svg("path", { class: "cw-l-axis" });
  const cuts = svg("path", { class: "cw-l-cuts" });
  const captions = firstNumbers(2).map(() => svg("text", { class: "cw-l-small cw-l-caption" }));
  const ring = svg("rect", { class: "cw-l-ring", rx: 3 });
  // All bars of a kind are one path: a browser lays out and paints two hundred shapes more slowly.
  const [fill, outline, cutOutline] = ["cw-l-fill", "cw-l-outline", "cw-l-outline cw-l-cut"].map((name) => svg("path", { class: name }));
  const labels = names.map((name) => svg("text", { "text-anchor": "middle" }, name));
  const ticks = svg("g");
  drawing.append(axis, ring, fill, outline, cutOutline, ...labels, ticks, cuts, ...captions);
  const frame = html("div", { class: "cw-l-bars" }, drawing);
  let width = 0;
  let geometry = {};
  let shown = [];

  function place(byRank) {
    if (geometry.width === width && geometry.byRank === byRank) return;
    const rows = Math.ceil(names.length / Math.max(1, Math.floor((width - LEFT) / NARROWEST)));
    const each = Math.ceil(names.length / rows);
    const cell = Math.min(WIDEST, (width - LEFT) / each);
    // The letter of rank r has a share of at most 1/r: by rank, all rows but the first can be low.
    const tall = rows === 1 ? 150 : byRank ? 130 : 80;
    const most = (row) => (byRank ? 1 / (row * each + 1) : 1);
    const rooms = firstNumbers(rows).map((row) => clamped(Math.ceil((tall * most(row)) / TOPS[0]), LOWEST, tall));
    const base = firstNumbers(rows).map((row) => rooms.slice(0, row + 1).reduce((y, room) => y + ABOVE + room, row * BELOW));
    geometry = { width, byRank, rows, each, cell, tall, rooms, base };
    setChanged(drawing, { viewBox: `0 0 ${width} ${base[rows - 1] + BELOW}` });
    setChanged(ring, { width: cell - 1 });
    for (const label of labels) setChanged(label, { style: `font-size: ${Math.min(15, cell + 1)}px` });
    const heads = base.filter((_, row) => rooms[row] === tall).map((y) => y - tall);
    setChanged(axis, { d: [...base, ...heads].map((y) => `M${LEFT - 4} ${y}h${each * cell + 4}`).join("") });
    const tick = (y) => svg("text", { class: "cw-l-small", "text-anchor": "end", x: LEFT - 7, y: y + 4 }, "0");
    geometry.tops = heads.map(tick);
    ticks.replaceChildren(...base.map(tick), ...geometry.tops);
  }
  const rowOf = (i) => Math.floor(i / geometry.each);
  const spot = (i) => [LEFT + (i % geometry.each) * geometry.cell, geometry.base[rowOf(i)]];
  const box = (i, height) => {
    const [x, y] = spot(i);
    const width = (geometry.cell - 3).toFixed(2);
    return `M${(x + 1.5).toFixed(2)} ${y}h${width}v${(-height).toFixed(3)}h-${width}z`;
  };

  function draw({ order, own, choice, chosen, option, byRank, spoken }) {
    width ||= frame.clientWidth || 360;
    place(byRank);
    const { cell, tall, rooms } = geometry;
    const top = TOPS.find((limit) => limit >= Math.max(...own, ...choice.probability) - 1e-9) ?? 1;
    const boxes = (wanted, shares) => order.map((id, i) => (wanted(id) ? box(i, (tall * shares[id]) / top) : "")).join("");
    const isCut = (id) => choice.probability[id] === 0;
    for (const text of geometry.tops) say(text, String(top));
    shown = order;
    setChanged(fill, { d: boxes((id) => !isCut(id), choice.probability) });
    setChanged(outline, { d: boxes((id) => !isCut(id), own) });
    setChanged(cutOutline, { d: boxes(isCut, own) });
    order.forEach((id, i) => {
      const [x, y] = spot(i);
      setChanged(labels[id], {
        transform: `translate(${(x + cell / 2).toFixed(2)} ${y + 16})`,
        class: `${isCut(id) ? "cw-l-cut" : ""}${id === chosen ? " cw-l-chosen" : ""}`,
      });
    });
    const ringed = order.indexOf(option);
    const [x, y] = spot(ringed);
    const room = rooms[rowOf(ringed)];
    setChanged(ring, { x: (x + 0.5).toFixed(2), y: y - room - 2, height: room + BELOW });
    const edges = [["top-k", choice.leftByK, names.length], ["top-p", choice.leftByP, choice.leftByK]].map(([name, left, of]) =>
      (byRank && left < of ? { name, where: spot(left - 1), high: rooms[rowOf(left - 1)], left } : null));
    setChanged(cuts, { d: edges.map((edge) => (edge ? `M${edge.where[0] + cell} ${edge.where[1]}v${-edge.high}` : "")).join("") });
    captions.forEach((caption, i) => {
      const edge = edges[i];
      say(caption, edge ? `${edge.name} keeps ${edge.left}` : "");
      if (!edge) return;
      const beyond = edge.where[0] + cell > geometry.width - 110;
      setChanged(caption, { x: edge.where[0] + cell + (beyond ? -4 : 4), y: edge.where[1] - edge.high + 12 + 15 * i, "text-anchor": beyond ? "end" : "start" });
    });
    setChanged(drawing, { "aria-valuenow": order.indexOf(option) + 1, "aria-valuetext": spoken });
  }

  const under = ({ clientX, clientY }) => {
    const box = drawing.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top].map((part) => (part * geometry.width) / box.width);
    const column = clamped(Math.floor((x - LEFT) / geometry.cell), 0, geometry.each - 1);
    const row = clamped(geometry.base.filter((bottom) => y > bottom + BELOW).length, 0, geometry.rows - 1);
    return shown[clamped(row * geometry.each + column, 0, names.length - 1)];
  };
  drawing.addEventListener("click", (event) => handlers.take(under(event)));
  drawing.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") handlers.preview(under(event));
  });
  drawing.addEventListener("pointerleave", () => handlers.preview(null));
  walk(drawing, handlers.moveBy, () => handlers.take(null));
  // To ask the frame for its width at each draw would lay the page out once more.
  const observer = new ResizeObserver(([{ contentRect }]) => {
    width = contentRect.width || width;
    handlers.resized();
  });
  observer.observe(frame);
  return { frame, draw, stop: () => observer.disconnect() };
}

/** What every head looked at: the text once for each, its letters tinted by their weights. */
export function headCards(layers, heads) {
  const cards = firstNumbers(layers).flatMap((layer) => firstNumbers(heads).map((head) => {
    const most = html("strong");
    const body = html("div", { "aria-hidden": "true" });
    const card = html("div", { class: "cw-l-card", role: "img" }, html("p", {}, heads > 1 || layers > 1 ? `Layer ${layer + 1}, head ${head + 1}` : "The head", most), body);
    return { layer, head, most, body, card, letters: [] };
  }));
  const line = html("p", { class: "cw-hint cw-l-look" });
  const all = html("div", { class: "cw-l-cards" }, ...cards.map(({ card }) => card));
  const idle = "The bluer a letter, the harder the head looks at it. Point at one or tap it for its weight.";
  let now = null;

  function draw(names, attention) {
    now = { names, attention };
    for (const { layer, head, most, body, card, letters } of cards) {
      const row = attention[layer][head];
      showFirst(body, letters, row.length, () => html("span"));
      row.forEach((weight, t) => {
        say(letters[t], names[t]);
        setChanged(letters[t], { style: `--weight: ${Math.sqrt(weight).toFixed(4)}` });
      });
      const best = row.indexOf(Math.max(...row));
      say(most, `${names[best]} ${three(row[best])}`);
      setChanged(card, { "aria-label": `Layer ${layer + 1}, head ${head + 1} looks most at ${names[best]}, place ${best + 1} of ${row.length}, weight ${three(row[best])}` });
    }
    say(line, idle);
  }
  function point({ target }) {
    const card = cards.find(({ body }) => body === target.parentNode);
    const t = card ? card.letters.indexOf(target) : -1;
    say(line, t < 0 ? idle : `Layer ${card.layer + 1}, head ${card.head + 1} looks at ${now.names[t]} (place ${t + 1} of ${now.names.length}) with weight ${three(now.attention[card.layer][card.head][t])}.`);
  }
  all.addEventListener("pointermove", point);
  all.addEventListener("click", point);
  return { all, line, draw };
}

