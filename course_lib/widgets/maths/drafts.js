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
