import { expBelow } from "../maths/tiles.js";
import { number, scientific } from "../text.js";

const counted = ([first, end]) => `${first + 1}${end - first > 1 ? `–${end}` : ""}`;
const several = (one, more, items) => `${items[1] - items[0] > 1 ? more : one} ${counted(items)}`;
export const grouped = (bytes) => bytes.toLocaleString("en");
/** By how much a tile shrank what was known. @param {any} report */
export const factorOf = ({ before, after }) => expBelow(before.maximum, after.maximum);

export const placeInWords = ({ hand, step, plan }) =>
  hand
    ? `tile ${step} of ${plan.length}: ${several("query", "queries", hand.rows)}, ` +
      several("key", "keys", hand.columns)
    : `before the first of ${plan.length} tiles`;

/** The query that the last tile rescaled most, and how; in words. */
export function story({ run: { inHand, reports }, hand }) {
  if (!hand) return "Nothing is loaded yet: m = −∞, ℓ = 0, o = 0. Take the first tile.";
  if (hand.columns[0] === 0) {
    const who = several("query", "queries", inHand);
    return `First keys for ${who}: the running three begin with this tile.`;
  }
  const factors = reports.map(factorOf);
  const most = factors.indexOf(Math.min(...factors));
  const { before, tile, after } = reports[most];
  if (after.maximum === before.maximum) {
    return "No score of this tile beats a running maximum: nothing is rescaled, the tile only adds.";
  }
  const [old, added] = [factors[most], expBelow(tile.maximum, after.maximum) * tile.total];
  return (
    `Query ${inHand[0] + most + 1}: the maximum rises from ${number(before.maximum)} to ` +
    `${number(after.maximum)}, so what was known shrinks by ` +
    `e^(${number(before.maximum - after.maximum)}) = ${number(old, 3)}, then the tile adds: ` +
    `ℓ\u00a0= ${number(old, 3)} · ${number(before.total)} + ${number(added)} = ` +
    `${number(after.total)}.`
  );
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
    `${placeInWords(now)}. ${story(now)} Moved ${tiled} bytes in tiles, ${naive} by the naive ` +
    `algorithm. ${written}${said}${off}.`
  );
}
