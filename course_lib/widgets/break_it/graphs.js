// Graphs of a few nodes on a circle.

import { upTo } from "../maths/numerics.js";
import { dots, line } from "./pictures.js";

/** Pairs of nodes, each joined with a chance; neighbours on a path with a larger one. */
export const edgesOf = (random, count) =>
  upTo(count).flatMap((j) =>
    upTo(j)
      .filter((i) => random() < (j === i + 1 ? 0.8 : 0.15))
      .map((i) => [i, j]),
  );

const place = (i, count) => {
  const turn = (2 * Math.PI * i) / count;
  return [2 * Math.sin(turn), 2 * Math.cos(turn)];
};

/** @param {number[]} [heights] of the nodes, which their dots show */
export const graphPicture = (count, edges, marked = -1, heights = undefined) => [
  edges.map((edge) =>
    line(
      edge.map((i) => place(i, count)),
      "edge",
      0.02,
    ),
  ),
  upTo(count).map((i) => {
    const height = heights?.[i] ?? 0;
    const ink = i === marked || height < 0 ? "warm" : "accent";
    return dots([place(i, count)], ink, heights ? 0.03 + 0.05 * Math.abs(height) : 0.08);
  }),
];

/** Told as a reader counts, from 1. */
export const told = (edges) => edges.map(([i, j]) => `${i + 1}–${j + 1}`).join(", ") || "none";
