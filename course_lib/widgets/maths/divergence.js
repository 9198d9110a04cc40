/**
 * The adjoint of the gradient, `divergence` of graph_calculus.py: what flows into each node, less
 * what flows out. Of what sets out, a share may be `lost` on its way.
 * @param {number[]} flow along each edge
 * @param {number[][]} edges
 * @param {number} count of nodes
 */
export function divergence(flow, edges, count, lost = 0) {
  const inflow = new Array(count).fill(0);
  edges.forEach(([from, to], e) => {
    inflow[to] += (1 - lost) * flow[e];
    inflow[from] -= flow[e];
  });
  return inflow;
}
