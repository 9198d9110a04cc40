/**
 * The colours of Weisfeiler and Lehman after 0, 1, … rounds, until a round tells no more apart. Two
 * nodes share a colour if they shared it before, and their neighbours' colours are as many of each.
 * When a colour is divided, its first part keeps the name, so that a picture changes little.
 * @param {string[]} labels that the nodes begin with
 * @param {number[][][]} neighbours of each node, the node first
 * @returns {number[][]}
 */
export function weisfeilerLehman(labels, neighbours) {
  const rounds = [named(labels.map((label) => [-1, label]))];
  for (;;) {
    const now = rounds[rounds.length - 1];
    const signatures = now.map((colour, i) => {
      const heard = neighbours[i].map(([j]) => now[j]).sort((a, b) => a - b);
      return [colour, heard.join(" ")];
    });
    const next = named(signatures);
    if (classes(next) === classes(now)) return rounds;
    rounds.push(next);
  }
}

/** How many colours there are. @param {number[]} colours */
export const classes = (colours) => new Set(colours).size;

/**
 * A number for each pair of an old colour, −1 being none, and a text.
 * @param {any[][]} pairs
 */
function named(pairs) {
  const taken = new Set([-1]);
  const names = new Map();
  let fresh = 1 + pairs.reduce((most, [old]) => Math.max(most, old), -1);
  return pairs.map(([old, text]) => {
    const key = `${old}:${text}`;
    if (!names.has(key)) {
      names.set(key, taken.has(old) ? fresh : old);
      fresh += taken.has(old) ? 1 : 0;
      taken.add(old);
    }
    return names.get(key);
  });
}

/** How many nodes have each colour. @param {number[]} colours @param {number} count of colours */
export function histogram(colours, count) {
  const counts = new Array(count).fill(0);
  for (const colour of colours) counts[colour] += 1;
  return counts;
}
