import { svg } from "../vendor/lit-html/lit-html.js";

/** Where top-k and top-p cut the ranks off, if that is among the `shown` of `count` letters. */
export function cuts({ spot, right }, { leftByK, leftByP }, shown, count) {
  const limits = [
    { name: "top-k", left: leftByK, of: count },
    { name: "top-p", left: leftByP, of: leftByK },
  ];
  const edge = ({ name, left }, i) => {
    const { end, y, room } = spot(left - 1);
    const beyond = end > right - 110;
    return svg`<path stroke="var(--cw-warm)" stroke-width="1.5" stroke-dasharray="4 3"
        d=${`M${end} ${y}v${-room}`}></path>
      <text class="cw-small cw-halo" style="fill: var(--cw-warm)"
        x=${end + (beyond ? -4 : 4)} y=${y - room + 12 + 15 * i}
        text-anchor=${beyond ? "end" : "start"}>${name} keeps ${left}</text>`;
  };
  return limits.filter(({ left, of }) => left < of && left <= shown).map(edge);
}
