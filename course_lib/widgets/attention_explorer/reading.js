// The reading of a text, as AttentionExplorer plays it: token by token, each with its guess.

import { button } from "../kit/controls.js";
import { every, playButton } from "../kit/play.js";
import { html } from "../vendor/lit-html/lit-html.js";

const SECONDS_A_TOKEN = 0.9;

/** Python knows no place in a text that was typed in the page. @param {any} ui */
export const at = (ui, query) => (ui.now.own ? { place: query } : { query });

/** The text from the first token that comes back on, or else from its beginning. @param {any} ui */
export function beginReading(ui) {
  const { tokens, query } = ui.now;
  const back = tokens.findIndex((token, i) => tokens.indexOf(token) < i);
  ui.set({ stood: query, ...at(ui, Math.max(0, back)), elapsed: 0 });
}

/** Whoever chooses a token has the text to himself. @param {any} ui */
export function stopReading(ui) {
  if (ui.now.stood === null) return;
  ui.play(false);
  ui.set({ stood: null });
}

/** After the last token the text stands where it stood. */
export function readOn({ query, stood, tokens, elapsed }, ui, seconds) {
  const next = () => {
    if (query < tokens.length - 1) return ui.set(at(ui, query + 1));
    ui.play(false);
    ui.set({ ...at(ui, stood ?? query), stood: null });
  };
  ui.set({ elapsed: every(SECONDS_A_TOKEN, elapsed, seconds, next) });
}

/** The reading under the hand. */
export function reading({ tokens, query, stood }, ui) {
  const step = () => {
    ui.play(false);
    ui.set({ ...at(ui, (query + 1) % tokens.length), stood: stood ?? query });
  };
  return html`<div class="cw-controls cw-reading">
    ${playButton(ui, { start: "Read it", stop: "❚❚ Pause", begin: () => stood ?? beginReading(ui) })}
    ${button("Next letter", step)}
  </div>`;
}
