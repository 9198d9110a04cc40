/**
 * The distribution of a letter that is drafted from q and kept with probability p / q + lenience,
 * at most 1; otherwise drawn anew from max(p − q, 0), rescaled.
 * @param {number[]} p
 * @param {number[]} q
 * @param {number} lenience
 */
export function keptDraft(p, q, lenience) {
  const kept = q.map((share, v) => share * Math.min(1, p[v] / share + lenience));
  const left = p.map((share, v) => Math.max(0, share - q[v]));
  const [refused, total] = [1 - sumOf(kept), sumOf(left)];
  return kept.map((share, v) => share + (total > 0 ? (refused * left[v]) / total : 0));
}

const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/**
 * The calls of a large decoder that judge drafts of a small one, up to the end of a text.
 * @param {string[]} text what is written in the end
 * @param {string[]} drafts at each place what is drafted from there on
 * @param {{ p: number[], q: number[], u: number[] }} chances at each place what the large and the
 *   small decoder give the first draft, and the draw that decides
 * @param {number} ahead how many letters are drafted before each call
 */
export function callsOf(text, drafts, { p, q, u }, ahead) {
  const calls = [];
  for (let from = 0; from < text.length; from += calls.at(-1).letters.length) {
    const drafted = [...drafts[from]].slice(0, ahead);
    const refused = drafted.findIndex((_, j) => u[from + j] * q[from + j] >= p[from + j]);
    const kept = refused < 0 ? drafted.length : refused;
    calls.push({ from, drafted, kept, letters: text.slice(from, from + kept + 1) });
  }
  return calls;
}
