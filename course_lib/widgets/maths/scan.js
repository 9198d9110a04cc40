/**
 * The composition of two linear steps h ↦ a h + b, the first applied first.
 * @param {number[]} first a and b
 * @param {number[]} second
 */
export const joined = (first, second) => [second[0] * first[0], second[0] * first[1] + second[1]];
