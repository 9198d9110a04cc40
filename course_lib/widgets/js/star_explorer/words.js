// What is said of stars.

import { number } from "../text.js";

/** A period to six digits. @param {number} period */
export const days = (period) =>
  `${number(period, Math.max(0, 5 - Math.floor(Math.log10(period))))} d`;

export const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

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
