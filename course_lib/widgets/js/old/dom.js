const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

const FOCUSABLE = "input, select, button, [tabindex]";

function appendTo(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  // Some shortcuts of JupyterLab look at the focused element alone, so it must be deaf itself.
  if (node.matches(FOCUSABLE)) node.setAttribute("data-lm-suppress-shortcuts", "true");
  // `append` makes text nodes of strings: data is shown, never parsed as markup.
  node.append(...children);
  return node;
}

/** An HTML element. Strings among the children become text. */
export function html(tag, attributes = {}, ...children) {
  return appendTo(document.createElement(tag), attributes, children);
}

/** An SVG element. Strings among the children become text. */
export function svg(tag, attributes = {}, ...children) {
  return appendTo(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

let identifiers = 0;

/** An id that no other element of the page has. */
export function uniqueId(prefix) {
  identifiers += 1;
  return `${prefix}-${Math.random().toString(36).slice(2, 8)}-${identifiers}`;
}

/** The widget's outermost element: themed, labelled, and deaf to the shortcuts of JupyterLab. */
export function widgetRoot(el, label, ...children) {
  const root = html(
    "div",
    { class: "cw", role: "group", "aria-label": label, "data-lm-suppress-shortcuts": "true" },
    ...children,
  );
  el.replaceChildren(root);
  return root;
}

/** Sets what differs: an attribute that stays costs nothing. */
export function setChanged(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
}

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows the first `count` of `nodes`, which grow as `make` makes them: what stays is not laid out again. */
export function showFirst(parent, nodes, count, make) {
  while (nodes.length < count) nodes.push(make());
  while (parent.children.length > count) parent.lastChild.remove();
  parent.append(...nodes.slice(parent.children.length, count));
}

/** A number with a fixed count of digits and a true minus sign. */
export function number(value, digits = 2) {
  return value.toFixed(digits).replace(/^-(?=0(\.0*)?$)/, "").replace("-", "−");
}

export function superscript(integer) {
  return String(integer).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
}

/** A number from nothing to huge, as 2.5·10⁻². */
export function scientific(value) {
  if (!(value > 0)) return "0";
  const [digits, exponent] = value.toExponential(1).split("e");
  return `${digits}·10${superscript(Number(exponent))}`;
}
