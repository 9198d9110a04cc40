// The numbers below 10,000 in words, none for zero. Compared with num2words.

const list = (text) => text.split(" ");
const ONES = list(
  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
);
const TENS = list("twenty thirty forty fifty sixty seventy eighty ninety");
const EINS = list("eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf");
const ZEHN = list("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig");

const parts = (n, size) => [Math.floor(n / size), n % size];

/** A token for each id: the mark 0, then the others in order. @param {string[][]} tokens */
const numbered = (...tokens) => ["·", ...tokens.flat().sort()];
export const ENGLISH = numbered(ONES, TENS, list("and hundred thousand"));
export const GERMAN = numbered(EINS, ZEHN, list("ein und sech sieb hundert tausend"));

/** The words of a number in English. @returns {string[]} */
export function inEnglish(n) {
  if (n < 20) return ONES.slice(n - 1, n);
  if (n < 100) return [TENS[Math.floor(n / 10) - 2], ...inEnglish(n % 10)];
  const [size, name] = n < 1000 ? [100, "hundred"] : [1000, "thousand"];
  const [count, rest] = parts(n, size);
  const and = rest && rest < 100 ? ["and"] : [];
  return [...inEnglish(count), name, ...and, ...inEnglish(rest)];
}

/** A number in German, where it is one word. */
export function inGerman(n) {
  const counted = (ones) => (ones === 1 ? "ein" : inGerman(ones));
  if (n < 13) return EINS[n - 1] ?? "";
  // The stems are sech and sieb: sechzehn, siebzehn.
  if (n < 20) return `${EINS[n - 11].slice(0, 4)}zehn`;
  const [size, name] = n < 1000 ? [100, "hundert"] : [1000, "tausend"];
  const [count, rest] = parts(n, n < 100 ? 10 : size);
  if (n < 100) return `${rest ? `${counted(rest)}und` : ""}${ZEHN[count - 2]}`;
  return `${counted(count)}${name}${inGerman(rest)}`;
}
