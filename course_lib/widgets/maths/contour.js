const LINE_GRID = 61;
// Skip cells with an infinite value, as at the sun of a planet.
const DEEPEST = -1e12;

/**
 * Marching squares: the segments `[x0, y0, x1, y1]`, in grid units, on which a field crosses a
 * `level`. `field` has `rows * columns` values, row by row.
 */
export function contourSegments(field, rows, columns, level) {
  const segments = [];
  for (let row = 0; row + 1 < rows; row += 1) {
    for (let column = 0; column + 1 < columns; column += 1) {
      const corner = row * columns + column;
      const a = field[corner] - level;
      const b = field[corner + 1] - level;
      const c = field[corner + columns + 1] - level;
      const d = field[corner + columns] - level;
      const crossings = [];
      if (a > 0 !== b > 0) crossings.push([column + a / (a - b), row]);
      if (b > 0 !== c > 0) crossings.push([column + 1, row + b / (b - c)]);
      if (d > 0 !== c > 0) crossings.push([column + d / (d - c), row + 1]);
      if (a > 0 !== d > 0) crossings.push([column, row + a / (a - d)]);
      for (let i = 0; i + 1 < crossings.length; i += 2) {
        segments.push([...crossings[i], ...crossings[i + 1]]);
      }
    }
  }
  return segments;
}

/** Segments as the `d` of one SVG path, scaled and shifted into the drawing. */
export function segmentPath(segments, scale, shift) {
  return segments
    .map(([x0, y0, x1, y1]) => {
      const from = `${(shift + scale * x0).toFixed(1)} ${(shift + scale * y0).toFixed(1)}`;
      const to = `${(shift + scale * x1).toFixed(1)} ${(shift + scale * y1).toFixed(1)}`;
      return `M${from}L${to}`;
    })
    .join("");
}

/**
 * Joins segments that meet into lines, so that dashes continue along a line.
 * @param {number[][]} segments
 * @returns {number[][][]} the points of each line
 */
export function chained(segments) {
  const at = new Map();
  const ends = segments.map(([x0, y0, x1, y1]) => [`${x0} ${y0}`, `${x1} ${y1}`]);
  ends.forEach((pair, i) => {
    for (const end of pair) at.set(end, [...(at.get(end) ?? []), i]);
  });
  const used = new Set();
  /** The points of a line from one end, along unused segments. */
  const walk = (from) => {
    const points = [];
    for (let end = from; ; ) {
      const next = at.get(end).find((i) => !used.has(i));
      if (next === undefined) return points;
      used.add(next);
      end = ends[next][ends[next][0] === end ? 1 : 0];
      points.push(end.split(" ").map(Number));
    }
  };
  const lines = [];
  segments.forEach((_, i) => {
    if (used.has(i)) return;
    used.add(i);
    const [back, on] = ends[i].map(walk);
    const own = ends[i].map((end) => end.split(" ").map(Number));
    lines.push([...back.reverse(), ...own, ...on]);
  });
  return lines;
}

/**
 * The contour line of a function at a value, as the `d` of an SVG path on a square of `side` pixels
 * from −`reach` to `reach`.
 * @param {(x: number, y: number) => number} valueAt
 * @param {number[]} reach
 * @param {number} value
 * @param {number} side
 */
export function levelLine(valueAt, [rx, ry], value, side) {
  const last = LINE_GRID - 1;
  const field = Float64Array.from({ length: LINE_GRID * LINE_GRID }, (_, i) => {
    const [column, row] = [i % LINE_GRID, Math.floor(i / LINE_GRID)];
    const height = valueAt(rx * ((2 * column) / last - 1), ry * (1 - (2 * row) / last));
    return Math.max(DEEPEST, height);
  });
  const place = (point) => point.map((part) => ((part * side) / last).toFixed(1)).join(" ");
  return chained(contourSegments(field, LINE_GRID, LINE_GRID, value))
    .map((points) => `M${points.map(place).join("L")}`)
    .join("");
}
