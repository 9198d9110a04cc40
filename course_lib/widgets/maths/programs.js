// Steppers that Python sent as programs: see programs.py.

/** The register of the first line of a program: q, p and dt come before it. */
const FIRST = 3;
const SUMS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};

/**
 * A stepper like those of mechanics.js. A register is a vector; a number fills one.
 * @param {{ lines: any[][], q: number, p: number }} program
 * @param {number} dim
 */
export function stepperOf({ lines, q: qEnd, p: pEnd }, dim) {
  const registers = Array.from({ length: FIRST + lines.length }, () => new Float64Array(dim));
  const registerOf = (part) => registers[part] ?? new Float64Array(dim).fill(part.number);
  const made = lines.map(([name, ...parts], i) => {
    const [a, b] = parts.map(registerOf);
    const out = registers[FIRST + i];
    if (name === "grad_q") return ({ gradQ }) => gradQ(a, out);
    if (name === "grad_p") return ({ gradP }) => gradP(b, out, a);
    const sum = SUMS[name];
    return () => {
      for (let k = 0; k < dim; k += 1) out[k] = sum(a[k], b[k]);
    };
  });
  return (system, q, p, dt) => {
    registers[0].set(q);
    registers[1].set(p);
    registers[2].fill(dt);
    for (const line of made) line(system);
    q.set(registers[qEnd]);
    p.set(registers[pEnd]);
  };
}
