/**
 * Marching squares: the segments `[x0, y0, x1, y1]`, in grid units, on which a field crosses `level`.
 * `field` has `rows * columns` values, row by row.
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
