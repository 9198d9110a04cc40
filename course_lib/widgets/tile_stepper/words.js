import { number, scientific } from "../kit/text.js";
import { expBelow } from "../maths/tiles.js";

/** Answers that differ by less are rounded otherwise, no more. */
const SAME = 1e-9;
export const ASKS = "Which carries fewer bytes?";

const counted = ([first, end]) => `${first + 1}${end - first > 1 ? `–${end}` : ""}`;
const several = (one, more, items) => `${items[1] - items[0] > 1 ? more : one} ${counted(items)}`;
export const grouped = (bytes) => bytes.toLocaleString("en");
/** What a pair of tiles takes of the chip, and what it has. */
export const roomTaken = ({ room: { held, most } }) => `${grouped(held)} of ${grouped(most)} bytes`;
/** By how much a tile shrank what was known. @param {any} report */
export const factorOf = ({ before, after }) => expBelow(before.maximum, after.maximum);

export const placeInWords = ({ hand, step, plan }) =>
  hand
    ? `tile ${step} of ${plan.length}: ${several("query", "queries", hand.rows)}, ` +
      several("key", "keys", hand.columns)
    : `before the first of ${plan.length} tiles`;

/** How many times the bytes of the tiles the naive algorithm moves in all. */
export const times = ({ bytes: { tiled, naive } }) =>
  `${number(naive[1] / tiled[1], 1)} times as many`;

/**
 * The query that the last tile rescaled most, and how; in words, with the power of e in them.
 * @returns {{ lead: string, power?: string, rest?: string }}
 */
export function story(now) {
  const {
    run: { inHand, reports },
    hand,
  } = now;
  if (!hand) return { lead: "Nothing is on the chip yet. Take the first tile." };
  if (hand.columns[0] === 0) {
    const who = several("query", "queries", inHand);
    return { lead: `First keys for ${who}: maximum, sum and output begin with this tile.` };
  }
  const factors = reports.map(factorOf);
  const most = factors.indexOf(Math.min(...factors));
  const { before, after } = reports[most];
  if (after.maximum === before.maximum) {
    return { lead: "No score of this tile beats a running maximum: the tile only adds." };
  }
  return {
    lead:
      `Query ${inHand[0] + most + 1}: its maximum rises from ${number(before.maximum)} to ` +
      `${number(after.maximum)}, so its sum and output shrink by `,
    power: number(before.maximum - after.maximum),
    rest: ` ≈ ${number(factors[most], 3)} before this tile adds to them.`,
  };
}

/** Who guesses first sees no total before the last tile has come to its end. */
export const done = ({ step, plan, trip }) => step === plan.length && trip === 1;

/** Once all tiles are done: whether the answer is the same, and which side carried less. */
export function outcome(now) {
  const { exact, run, bytes, room } = now;
  const { tiled, naive } = bytes;
  const tight = `does not fit: ${roomTaken(now)}.`;
  if (!done(now))
    return room.fits
      ? { kind: "open", text: "Same softmax, two ways." }
      : { kind: "bad", text: `A pair of tiles ${tight}` };
  const off = run.output.flatMap((row, i) => row.map((o, f) => Math.abs(o - exact[i][f])));
  if (!(Math.max(...off) < SAME)) return { kind: "bad", text: "The two answers differ." };
  if (!room.fits) return { kind: "bad", text: `Same answer, but the pair of tiles ${tight}` };
  const counts = `Tiles carried ${grouped(tiled[1])} bytes, naive ${grouped(naive[1])}.`;
  return { kind: tiled[1] < naive[1] ? "good" : "bad", text: `Same answer. ${counts}` };
}

function told(now) {
  const { lead, power, rest = "" } = story(now);
  return lead + (power ? `e to the power ${power}` : "") + rest;
}

/** How many outputs are written, and how far they are from softmax over the whole row. */
export function verdict({ run: { output }, exact }) {
  const written = output.filter((row) => row !== null).length;
  const off = output.flatMap((row, i) => (row ?? []).map((o, f) => Math.abs(o - exact[i][f])));
  return {
    written: `Outputs written: ${written} of ${output.length}. `,
    ...(written
      ? {
          off: scientific(Math.max(...off)),
          said: "Largest difference from softmax over the whole row: ",
        }
      : { off: "", said: "Each will be compared with softmax over its whole row" }),
  };
}

export function words(now) {
  const [tiled, naive] = [now.bytes.tiled, now.bytes.naive].map(([moved]) => grouped(moved));
  const { written, said, off } = verdict(now);
  return (
    `${placeInWords(now)}. ${told(now)} Moved ${tiled} bytes in tiles, ${naive} by the naive ` +
    `algorithm. A pair of tiles takes ${roomTaken(now)} on the chip. ` +
    `${written}${said}${off}. ${ASKS} ${outcome(now).text}`
  );
}
