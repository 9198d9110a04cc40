import { mean, sum } from "./numerics.js";

/** The distance of the tour from a key, as a share of the way from the start. */
const SHORT_OF_A_KEY = 0.15;
const MOST_STOPS = 6;

/**
 * The stops of a tour from `start` past the nearest keys: in the order of their angles about the
 * middle of all, and a little short of each key.
 * @param {number[]} start
 * @param {number[][]} keys
 */
export function stopsOf(start, keys) {
  const away = (key) => Math.hypot(key[0] - start[0], key[1] - start[1]);
  const nearest = keys.toSorted((a, b) => away(a) - away(b)).slice(0, MOST_STOPS);
  const short = (key) => key.map((part, i) => part + SHORT_OF_A_KEY * (start[i] - part));
  const stops = [start, ...nearest.map(short)];
  const [x, y] = [0, 1].map((i) => mean(stops.map((stop) => stop[i])));
  const turn = (stop) => Math.atan2(stop[1] - y, stop[0] - x);
  const since = (stop) => (turn(stop) - turn(start) + 2 * Math.PI) % (2 * Math.PI);
  return [start, ...stops.slice(1).toSorted((a, b) => since(a) - since(b))];
}

/**
 * The point of a closed tour at a share of its time: a Catmull–Rom spline through its stops, each
 * of its parts taking as long as its chord is.
 * @param {number[][]} stops
 * @param {number} share from 0 to 1
 */
export function alongTour(stops, share) {
  const count = stops.length;
  const at = (i) => stops[(i + count) % count];
  const chords = stops.map((stop, i) => Math.hypot(...stop.map((part, k) => part - at(i + 1)[k])));
  let left = share * sum(chords);
  let part = 0;
  while (part < count - 1 && left > chords[part]) {
    left -= chords[part];
    part += 1;
  }
  const u = chords[part] ? Math.min(1, left / chords[part]) : 0;
  const [before, from, to, after] = [-1, 0, 1, 2].map((step) => at(part + step));
  return from.map((value, k) => {
    const [slope, next] = [(to[k] - before[k]) / 2, (after[k] - value) / 2];
    const rise = to[k] - value;
    return (
      value + u * slope + u * u * (3 * rise - 2 * slope - next) + u ** 3 * (slope + next - 2 * rise)
    );
  });
}
