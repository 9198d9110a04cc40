// The tiles of scores that each program of an attention kernel visits, and when it runs.

import { handle, panel } from "../kit/charts.js";
import { clamp, sum, upTo } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 242;
const [WHOLE, CHECKED, OWN] = ["var(--cw-accent)", "var(--cw-warm)", "var(--cw-ink)"];

/** What a program does: its queries, and the keys up to `cut`, seen whole, and up to `end`. */
export function programOf(program, { query_count: queries, keys, tile, causal }) {
  const [start, ahead] = [program * tile, keys - queries];
  const end = causal ? Math.min(keys, start + tile + ahead) : keys;
  const seen = causal ? Math.min(keys, start + 1 + ahead) : keys;
  const cut = Math.floor(seen / tile) * tile;
  return { program, start, stop: Math.min(start + tile, queries), cut, end };
}

/** When each program runs: the next one begins wherever a multiprocessor becomes free first. */
export function timetable(lengths, multiprocessors) {
  const free = new Array(multiprocessors).fill(0);
  return lengths.map((length) => {
    const row = free.indexOf(Math.min(...free));
    free[row] += length;
    return { row, from: free[row] - length, to: free[row] };
  });
}

function derive(given) {
  const { query_count: queries, ahead, tile, last_first, multiprocessors } = given;
  const now = { ...given, keys: queries + ahead };
  const programs = upTo(Math.ceil(queries / tile)).map((program) => programOf(program, now));
  const lengths = programs.map(({ end }) => Math.ceil(end / tile));
  const visited = sum(lengths);
  const order = upTo(programs.length);
  if (last_first) order.reverse();
  const runs = timetable(
    order.map((program) => lengths[program]),
    multiprocessors,
  ).map((run, i) => ({ ...run, program: order[i] }));
  const own = programs[Math.min(given.program, programs.length - 1)];
  const least = Math.max(Math.ceil(visited / multiprocessors), ...lengths);
  const ends = Math.max(...runs.map(({ to }) => to));
  return { keys: now.keys, programs, lengths, runs, own, least, ends, visited };
}

const choose = (ui, program) => ui.set({ program: clamp(program, 0, ui.now.programs.length - 1) });

const starts = (count, tile) => upTo(Math.ceil(count / tile)).map((i) => i * tile);

function table(now, ui) {
  const { query_count: queries, keys, tile, causal, own, programs } = now;
  const { start, stop, cut, end } = own;
  const options = {
    name: "tiles",
    title: html`Keys <span style="color: ${WHOLE}">■ seen whole</span>
      <span style="color: ${CHECKED}">■ checked</span>`,
    says: `Program ${own.program} owns the queries ${start} to ${stop - 1}. It visits the keys up to ${end - 1}, and checks those from ${cut} on`,
    x: { ends: [0, keys], ticks: starts(keys, tile), label: "key" },
    y: { ends: [queries, 0], ticks: starts(queries, tile), label: "query" },
    ...{ height: HEIGHT, grow: 1.4, group: true },
  };
  return panel(ui, options, (frame) => {
    const box = (x0, y0, x1, y1, look) => svg`<rect x=${frame.x(x0) + 0.5} y=${frame.y(y0) + 0.5}
      width=${Math.max(0, frame.x(x1) - frame.x(x0) - 1)}
      height=${Math.max(0, frame.y(y1) - frame.y(y0) - 1)} fill=${look.fill ?? "none"}
      fill-opacity=${look.opacity ?? 1} stroke=${look.stroke ?? "none"}
      stroke-width="2.5"></rect>`;
    const row = (program) => (query) => {
      const sees = causal ? query + 1 + keys - queries : keys;
      const opacity = program === own ? 1 : 0.3;
      return [
        box(0, query, program.cut, query + 1, { fill: WHOLE, opacity }),
        box(program.cut, query, Math.min(sees, program.end), query + 1, { fill: CHECKED, opacity }),
      ];
    };
    const lines = starts(keys, tile).map(
      (key) => svg`<path d="M${frame.x(key)} ${frame.top}V${frame.bottom}"
        stroke="var(--cw-edge)" stroke-width="0.8"></path>`,
    );
    const mark = (at, name, anchor) => svg`<path stroke=${OWN} stroke-width="3"
        d="M${frame.x(at)} ${frame.y(start) - 5}V${frame.y(stop) + 5}"></path>
      <text class="cw-halo" x=${frame.x(at)} y=${start ? frame.y(start) - 8 : frame.y(stop) + 18}
        text-anchor=${anchor}>${name} ${at}</text>`;
    return svg`
      ${programs.map((program) =>
        upTo(program.stop - program.start).map((i) => row(program)(program.start + i)),
      )}${lines}
      ${programs.map((program) => box(0, program.start, keys, program.stop, { stroke: "var(--cw-paper)" }))}
      ${box(0, start, end, stop, { stroke: OWN })}
      ${cut < end ? mark(cut, "cut", "end") : ""}${mark(end, "end", "start")}
      <g data-snaps="program">${handle(frame, {
        point: [0, (start + stop) / 2],
        label: `program ${own.program}`,
        kind: "movable program",
        moveTo: ([, query]) => choose(ui, Math.floor(query / tile)),
        moveBy: ([across, up]) => choose(ui, ui.now.own.program + across - up),
      })}</g>`;
  });
}

function times(now, ui) {
  const { runs, own, multiprocessors, ends, least } = now;
  const options = {
    name: "times",
    title: "When each program runs",
    says: runs
      .map(({ program, row, from, to }) => `program ${program} on ${row} from ${from} to ${to}`)
      .join(", "),
    x: { ends: [0, Math.max(ends, 1)], label: "tiles of keys visited, one after the other" },
    y: { ends: [], names: upTo(multiprocessors).map(String), label: "multiprocessor" },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const run = ({ program, row, from, to }) => svg`<g style="cursor: pointer"
      @click=${() => choose(ui, program)}>
      <rect x=${frame.x(from) + 1} y=${frame.y(row - 0.4)}
        width=${Math.max(0, frame.x(to) - frame.x(from) - 2)}
        height=${frame.y(row + 0.4) - frame.y(row - 0.4)} rx="3" fill=${WHOLE}
        fill-opacity=${program === own.program ? 0.9 : 0.3}></rect>
      <text class="cw-halo" x=${frame.x((from + to) / 2)} y=${frame.y(row) + 4}
        text-anchor="middle">${program}</text></g>`;
    return svg`${runs.map(run)}<path d="M${frame.x(least)} ${frame.top}V${frame.bottom}"
      stroke=${OWN} stroke-width="1.5" stroke-dasharray="5 4"></path>`;
  });
}

function verdict({ ends, least, last_first }) {
  if (ends === least) return { kind: "good", text: `After ${ends} tiles: no order is faster` };
  const text = `After ${ends} tiles; ${least} at best`;
  return { kind: last_first ? "open" : "bad", text };
}

function says({ own, causal, lengths, tile }) {
  const { program, start, stop, cut, end } = own;
  const whole = cut ? `sees the keys 0 to ${cut - 1} whole` : "sees no tile whole";
  const rest =
    cut < end ? `checks which query sees which of the keys ${cut} to ${end - 1}` : "checks none";
  const left = causal ? `, and skips all later keys` : "";
  const count = `${lengths[program]} ${lengths[program] === 1 ? "tile" : "tiles"} of ${tile} keys`;
  return `Program ${program} owns the queries ${start} to ${stop - 1}. It visits ${count}: it ${whole}, ${rest}${left}.`;
}

export default liveFigure({
  derive,
  asks: "When is the last program done?",
  verdict,
  panels: (now, ui) => [table(now, ui), times(now, ui)],
  readings: ({ own, visited, programs, keys, tile }) => [
    { name: "cut", label: "cut", text: String(own.cut), room: 3 },
    { name: "end", label: "end", text: String(own.end), room: 3 },
    {
      name: "visited",
      label: `of ${programs.length * Math.ceil(keys / tile)} tiles visited:`,
      text: String(visited),
      room: 4,
    },
  ],
  says,
  tour: { knob: "program", from: 0, over: 5, seconds: 6 },
});
