// What is said of stars.

import { number } from "../kit/text.js";

/** A period to six digits. @param {number} period */
export const days = (period) =>
  `${number(period, Math.max(0, 5 - Math.floor(Math.log10(period))))} d`;

export const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

const VERDICTS = {
  own: "Found: the star’s own period.",
  eclipse: "Found: the orbit’s period, or half of it.",
  alias: "An alias: whole cycles a day off the star’s own.",
};
const UNASKED = "One curve. The star’s own? “Find it” says.";
const ENOUGH = 0.5; // of the scatter: below it there is no curve to be seen

/** Whether the period in hand is the star's own, and stands. */
export const isFound = ({ verdict, tour }) => verdict === "own" && tour >= 1;

/** What a reader may make of the period in hand. */
export function verdictTold({ explained, verdict, tour, pulsates, star, known }) {
  if (tour < 1 || (!verdict && explained > ENOUGH)) return "";
  if (verdict === "own" && !pulsates[star]) return VERDICTS.eclipse;
  if (verdict === "alias" && !known) return explained > ENOUGH ? UNASKED : "";
  return VERDICTS[verdict] ?? "Turn until it is one curve.";
}

/** A night as it was seen. */
export function nightTold({ curve, phases, hidden, lit }) {
  if (lit < 0) return "";
  const [t, m, sigma] = [curve.time, curve.magnitude, curve.error].map((values) => values[lit]);
  const gone = hidden.includes(lit) ? ", hidden" : "";
  return (
    `Night ${lit + 1} of ${curve.time.length}${gone}: day ${number(t)}, phase ` +
    `${number(phases[lit])}, ${number(m, 3)} ± ${number(sigma, 3)} mag`
  );
}
