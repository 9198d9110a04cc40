import { html, uniqueId } from "./dom.js";
import { whenQuiet } from "./frame.js";

function commit(model, name, value) {
  model.set(name, value);
  model.save_changes();
}

/**
 * A labelled slider bound to a trait. On a logarithmic slider equal distances are equal ratios.
 * The trait may also be moved from Python; the slider then follows.
 */
export function slider(model, name, { label, min, max, step, logarithmic = false, format = String }) {
  const toSlider = logarithmic ? Math.log : (value) => value;
  // Rounding keeps 0.30000000000000004 out of the trait that Python sees.
  const fromSlider = logarithmic
    ? (position) => Number(Math.min(max, Math.max(min, Math.exp(position))).toPrecision(4))
    : (position) => Number(position.toPrecision(12));
  const id = uniqueId("cw-slider");
  const input = html("input", {
    id,
    type: "range",
    min: toSlider(min),
    max: toSlider(max),
    step: logarithmic ? (Math.log(max) - Math.log(min)) / 100 : step,
    "data-trait": name,
  });
  const output = html("output", { for: id });

  function show() {
    const value = model.get(name);
    input.value = String(toSlider(value));
    output.textContent = format(value);
    input.setAttribute("aria-valuetext", format(value));
  }
  input.addEventListener("input", () => commit(model, name, fromSlider(Number(input.value))));
  model.on(`change:${name}`, show);
  show();
  return html("div", { class: "cw-control" }, html("label", { for: id }, label), input, output);
}

/** A labelled drop-down list bound to a trait; `options` is a list of `[value, text]`. */
export function select(model, name, { label, options }) {
  const id = uniqueId("cw-select");
  const list = html(
    "select",
    { id, "data-trait": name },
    ...options.map(([value, text]) => html("option", { value }, text)),
  );

  function show() {
    list.value = String(model.get(name));
  }
  list.addEventListener("change", () => {
    const [value] = options[list.selectedIndex];
    commit(model, name, value);
  });
  model.on(`change:${name}`, show);
  show();
  return html("div", { class: "cw-control" }, html("label", { for: id }, label), list);
}

/** A labelled check box bound to a boolean trait. */
export function toggle(model, name, { label }) {
  const id = uniqueId("cw-toggle");
  const box = html("input", { id, type: "checkbox", "data-trait": name });

  function show() {
    box.checked = model.get(name);
  }
  box.addEventListener("change", () => commit(model, name, box.checked));
  model.on(`change:${name}`, show);
  show();
  return html("div", { class: "cw-control cw-toggle" }, box, html("label", { for: id }, label));
}

/** A row of choices of which one is on, bound to a trait; `options` is a list of `[value, text]`. */
export function choices(model, name, { label, options }) {
  const group = uniqueId("cw-choices");
  const radios = options.map(([value, text]) => {
    const id = uniqueId("cw-choice");
    const radio = html("input", { id, type: "radio", name: group, value, "data-trait": name });
    radio.addEventListener("change", () => commit(model, name, value));
    return { value, radio, item: html("span", { class: "cw-choice" }, radio, html("label", { for: id }, text)) };
  });

  function show() {
    for (const { value, radio } of radios) radio.checked = value === model.get(name);
  }
  model.on(`change:${name}`, show);
  show();
  return html(
    "fieldset",
    { class: "cw-choices" },
    html("legend", {}, label),
    ...radios.map(({ item }) => item),
  );
}

/** A row of check boxes bound to a list trait: the values that are on, in the order of `options`. */
export function checks(model, name, { label, options }) {
  const boxes = options.map(([value, text, colour]) => {
    const id = uniqueId("cw-check");
    const box = html("input", { id, type: "checkbox", value, "data-trait": name });
    const swatch = colour ? [html("span", { class: "cw-swatch", style: `background: ${colour}`, "aria-hidden": "true" })] : [];
    box.addEventListener("change", () => {
      commit(model, name, boxes.filter((other) => other.box.checked).map((other) => other.value));
    });
    return { value, box, item: html("span", { class: "cw-choice" }, box, ...swatch, html("label", { for: id }, text)) };
  });

  function show() {
    for (const { value, box } of boxes) box.checked = model.get(name).includes(value);
  }
  model.on(`change:${name}`, show);
  show();
  return html("fieldset", { class: "cw-choices" }, html("legend", {}, label), ...boxes.map(({ item }) => item));
}

/** A push button. */
export function button(text, onPress) {
  const element = html("button", { type: "button", class: "cw-button" }, text);
  element.addEventListener("click", onPress);
  return element;
}

/** A line that is not seen but read aloud by a screen reader, once the reader's hand rests. */
export function announcer(describe) {
  const region = html("div", { class: "cw-announcer", role: "status", "aria-live": "polite" });
  const announce = whenQuiet(500, () => {
    region.textContent = describe();
  });
  return { region, announce };
}
