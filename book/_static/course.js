// A page opened from a file may not read other files, so the search there shows titles only.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A notebook is for saving, not for reading as text in a tab.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll(
    "a.btn-download-source-button, a.btn-download-library-button",
  )) {
    link.download = "";
    link.removeAttribute("target");
  }
  // The two themes beneath this book call the list of a page's sections differently. Who finds none
  // follows every link of the page, and stumbles over those that set a figure.
  document.body.dataset.bsTarget = ".page-toc";
});

// Paper is light, whatever the screen is, and nothing on it can be opened: what the reader has left
// shut goes to its end, with the answers to questions that are still open. A line tells where.
const root = document.documentElement;
// What a figure folds is its own, and no sheet of paper opens it.
const SHUT = "details:not([open], .cw-host *)";
// An appendix is printed where it stands.
const SECTION = "details.section:not([open])";
const QUESTION = ".cw-host[data-widget=Prediction]";
let stepsBack = [];
addEventListener("beforeprint", () => {
  if (stepsBack.length) return;
  const { theme } = root.dataset;
  root.dataset.theme = "light";
  const sections = [...document.querySelectorAll(SECTION)];
  for (const it of sections) it.open = true;
  stepsBack = [
    ...withAppendix(),
    () => (root.dataset.theme = theme),
    ...sections.map((it) => () => (it.open = false)),
  ];
});
addEventListener("afterprint", () => {
  for (const step of stepsBack) step();
  stepsBack = [];
});

function made(tag, name, ...content) {
  const element = document.createElement(tag);
  element.className = name;
  element.append(...content);
  return element;
}

function withAppendix() {
  const article = document.querySelector("article");
  const found = [...(article?.querySelectorAll(`${SHUT}, ${QUESTION}`) ?? [])].filter(
    (it) => !it.parentElement.closest(SHUT) && !it.courseModel?.get("revealed"),
  );
  const isAnswer = (it) => it.matches(`.admonition, ${QUESTION}`);
  const parts = [
    ["A", "Answers and solutions", found.filter(isAnswer)],
    ["C", "Code", found.filter((it) => !isAnswer(it))],
  ];
  return parts.flatMap(([letter, title, entries]) => {
    if (entries.length === 0) return [];
    const part = made("section", "appendix", made("h2", "", title));
    article.append(part);
    const steps = entries.map((it, i) => putInto(part, it, `${letter}${i + 1}`));
    return [...steps, () => part.remove()];
  });
}

/** Puts a fold, or the answer to a question, into a part of the appendix. Gives the step back. */
function putInto(part, it, name) {
  const entry = made("div", "appendix-entry");
  entry.id = `appendix-${name}`;
  part.append(entry);
  const link = made("a", "", name);
  link.href = `#${entry.id}`;
  const number = made("b", "", name);
  if (it.matches(QUESTION)) {
    const mark = made("p", "in-appendix", "Answer → ", link);
    it.after(mark);
    entry.append(made("p", "", number, it.courseWords.replace("A question to guess at. ", "")));
    return () => mark.remove();
  }
  const title = it.querySelector("summary");
  const mark = made("p", "in-appendix", ...title.cloneNode(true).childNodes, " → ", link);
  const shut = [it, ...it.querySelectorAll(SHUT)];
  it.replaceWith(mark);
  entry.append(it);
  title.prepend(number);
  for (const fold of shut) fold.open = true;
  return () => {
    for (const fold of shut) fold.open = false;
    number.remove();
    mark.replaceWith(it);
  };
}

// What the reader has read is kept in this browser alone, which may not allow it; so are the lectures
// whose questions have all shown their truth, of which book/your_guesses.md reads.
const READ = "course-read";
const ANSWERED = "attention-course:answered";
function lecturesOf(key) {
  try {
    return new Set(JSON.parse(localStorage.getItem(key) ?? "[]"));
  } catch {
    return new Set();
  }
}
function keepLectures(key, numbers) {
  try {
    localStorage.setItem(key, JSON.stringify([...numbers]));
  } catch {
    // A page opened from a file may not be allowed to remember.
  }
}
function showRead(numbers) {
  for (const entry of document.querySelectorAll(".bd-links a[data-lecture]")) {
    entry.toggleAttribute("data-read", numbers.has(entry.dataset.lecture));
  }
  const button = document.querySelector(".read-mark button");
  if (!button) return;
  button.hidden = false;
  const read = numbers.has(button.dataset.lecture);
  button.textContent = read ? "✓ Read: take the mark away" : "Mark this lecture as read";
}
const lectureHere = () => document.querySelector(".read-mark button")?.dataset.lecture;
/** Puts a lecture into the set of a key, or takes it out. */
function putLecture(key, lecture, belongs) {
  const numbers = lecturesOf(key);
  if (belongs) numbers.add(lecture);
  else numbers.delete(lecture);
  keepLectures(key, numbers);
}
/** Marks this page's lecture, or takes its mark away. */
function markRead(read) {
  putLecture(READ, lectureHere(), read);
  showRead(lecturesOf(READ));
}
document.addEventListener("DOMContentLoaded", () => {
  showRead(lecturesOf(READ));
  document
    .querySelector(".read-mark button")
    ?.addEventListener("click", () => markRead(!lecturesOf(READ).has(lectureHere())));
});
// course_lib/widgets/kit/kept.js says that a guess was made, its truth shown, or both taken back.
window.addEventListener("attention-course:guess:kept", () => {
  if (!lectureHere()) return;
  const questions = [...document.querySelectorAll(".cw-host[data-widget=Prediction]")];
  const known = questions.every(({ courseModel }) => courseModel?.get("revealed"));
  // Who has seen the truth has not read the lecture: only the reader says that, by the button.
  putLecture(ANSWERED, lectureHere(), known);
});

// What scrolls sideways says so, and the keyboard can reach it.
const WIDE =
  "article :is(figure .drawing, mjx-container[display=true], .math.wide mjx-container, .pst-scrollable-table-container, .highlight pre)";
const FEW = 6; // pixels: a drawing that lacks fewer is drawn smaller instead, and its letters stay legible
/** The pixels that a box lacks. A drawing says how wide it must be: measured, it would depend on the answer. */
function lack(box) {
  const least =
    box.matches(".drawing") && Number.parseFloat(box.querySelector("svg")?.style.minWidth);
  return (least || box.scrollWidth) - box.clientWidth;
}
function measure(boxes) {
  for (const [box, pixels] of boxes.map((box) => [box, lack(box)])) {
    const smaller = box.matches(".drawing") && pixels > 0 && pixels < FEW;
    const scrolls = !smaller && pixels > 1;
    box.classList.toggle("smaller", smaller);
    (box.matches("pre") ? box.parentElement : box).classList.toggle("scrolls", scrolls);
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
const watchWidth = new ResizeObserver((changes) => measure(changes.map(({ target }) => target)));
// What lay in a shut fold had no width of its own.
const opened = ({ target }) => target.open && measure([...target.querySelectorAll(WIDE)]);
document.addEventListener("toggle", opened, true);
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  for (const box of document.querySelectorAll(WIDE)) watchWidth.observe(box);
});

// What else a term is called than in this course, each also with an s at its end.
const ALSO_CALLED = {
  "residual connection": "skip connection|shortcut connection",
  "self-attention": "intra attention",
  "many heads": "multi head attention|multi headed attention|MHA",
  "grouped-query": "GQA",
  "multi-query": "MQA",
  sinusoids: "positional encoding|position encoding|positional embedding|position embedding",
  "graph attention": "GAT",
  "graph convolution": "GCN",
  "graph networks": "GNN|graph neural network",
  "message passing": "MPNN",
  "over-smoothing": "oversmoothing",
  "Störmer–Verlet": "leapfrog|velocity Verlet",
  "symplectic Euler": "semi implicit Euler",
  "Runge–Kutta 4": "RK4",
  "modified energy": "shadow Hamiltonian|modified Hamiltonian",
  "KV cache": "key value cache",
  "byte-pair encoding": "BPE",
  "layer norm": "layer normali[sz]ation",
  MLP: "feed forward network|feed forward|FFN",
  "mixture of experts": "MoE",
  "back through time": "backpropagation through time|BPTT",
  "it vanishes, or it explodes": "(?:vanishing|exploding) gradient",
  "parallel scan": "prefix sum",
  reparameterisation: "reparametri[sz]ation trick|reparameteri[sz]ation trick",
  "evidence lower bound": "variational lower bound",
  "importance-weighted": "IWAE",
  "fine-tuning": "transfer learning",
  "masked modelling": "self supervised learning|self supervised",
};
function asCalledHere(text) {
  let named = text;
  for (const [term, others] of Object.entries(ALSO_CALLED)) {
    const other = `(?<!\\p{L})(?:${others.replaceAll(" ", "[ -]?")})s?(?!\\p{L})`;
    named = named.replace(new RegExp(other, "giu"), term);
  }
  return named;
}

// Of the pages that say what is sought about as often as any, the earliest lecture comes first. The
// index knows which pages hold a word; how often, the pages tell, and a page opened from a file may
// not ask them. A result carries what was sought to its page.
const SHARE_OF_MOST = 1 / 3;
document.addEventListener("DOMContentLoaded", () => {
  const results = document.querySelector("#search-results");
  if (!results) return;
  const told = new Set();
  Scorer.score = ([page, , , , score]) => {
    const lecture = /^lectures\/(\d+)/.exec(page);
    return score + (told.has(page) ? 30 : 0) + (lecture ? 1 - Number(lecture[1]) / 100 : 0);
  };
  const asked = new URLSearchParams(location.search).get("q") ?? "";
  const sought = asCalledHere(asked);
  const phrase = phraseOf(sought);
  const { query } = Search;
  Search.query = async () => {
    if (sought !== asked) Search.status.after(made("p", "", `This course calls it “${sought}”.`));
    if (phrase && DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY) {
      const found = Search._performSearch(...Search._parseQuery(sought));
      const pages = [...new Set(found.map(([page]) => page))];
      const counts = await Promise.all(pages.map((page) => countIn(`${page}.html`, phrase)));
      const enough = Math.max(1, SHARE_OF_MOST * Math.max(...counts));
      pages.forEach((page, i) => counts[i] >= enough && told.add(page));
    }
    query(sought);
  };
  Search.makeSearchSummary = (page, words, anchor) =>
    made("p", "context", excerpt(proseOf(page, anchor), [phrase, ...words]));
  new MutationObserver(() => {
    for (const link of results.querySelectorAll("li > a:not([href*='?'])")) {
      const [page, section] = link.getAttribute("href").split("#");
      link.href = `${page}?sought=${encodeURIComponent(sought)}${section ? `#${section}` : ""}`;
    }
  }).observe(results, { childList: true, subtree: true });
});

/** The sentences of a page, or of a part of it: no code, no figure, and of formulas only letters. */
function proseOf(html, anchor) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const article = page.querySelector(anchor || "article") ?? page.querySelector("article");
  for (const other of article.querySelectorAll(
    "script, style, svg, pre, .cw-host, .headerlink, .fold > summary, .ways-on",
  ))
    other.remove();
  for (const formula of article.querySelectorAll(".math")) {
    const text = formula.textContent.slice(2, -2).trim();
    formula.textContent = /[\\{}]/.test(text) ? "…" : text;
  }
  for (const block of article.querySelectorAll("p, div, li, dt, dd, td, th, h1, h2, h3, h4"))
    block.append(" ");
  return article.textContent.replace(/\s+/g, " ");
}

/** What a text says about the first of some patterns that it has, from the beginning of a sentence. */
function excerpt(text, patterns) {
  const [BEFORE, LENGTH] = [160, 260];
  const at =
    patterns
      .map((it) => text.search(new RegExp(`${WORD_BEGINS}${it}`, "iu")))
      .find((i) => i >= 0) ?? 0;
  const [sentence] = /(?:(?![.?!] ).)*$/u.exec(text.slice(Math.max(0, at - BEFORE), at));
  const begin = at - sentence.length;
  const said = text.slice(begin, begin + LENGTH).replace(/^[.?!] /, "");
  return `${said.slice(0, said.lastIndexOf(" "))} …`;
}

// Sphinx would cut each word that is sought out of its text, and no phrase would be found.
try {
  localStorage.removeItem("sphinx_highlight_terms");
} catch {
  // A page opened from a file may not be allowed to look.
}

const WORD_BEGINS = "(?<![\\p{L}\\p{N}])";
const wordsOf = (text) => text?.match(/[\p{L}\p{N}]+/gu) ?? [];
const phraseOf = (text) => wordsOf(text).join("[^\\p{L}\\p{N}]{1,3}");

async function countIn(address, pattern) {
  try {
    const page = await (await fetch(address)).text();
    const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
    return matches(article, pattern).length;
  } catch {
    return 0;
  }
}

function matches(within, pattern, but = ", pre, .first-line") {
  const sought = new RegExp(WORD_BEGINS + pattern, "giu");
  const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT, (text) =>
    text.parentElement.closest(`script, style, mjx-container, .cw-host${but}`)
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  const ranges = [];
  while (texts.nextNode()) {
    for (const { index, 0: word } of texts.currentNode.data.matchAll(sought)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      ranges.push(range);
    }
  }
  return ranges;
}

window.addEventListener("load", async () => {
  const sought = new URLSearchParams(location.search).get("sought");
  const section = location.hash && document.getElementById(location.hash.slice(1));
  const article = section || document.querySelector("article");
  if (!sought || !article) return;
  await window.MathJax?.startup?.promise;
  const patterns = [phraseOf(sought), `(?:${wordsOf(sought).join("|")})`];
  const found = patterns.flatMap((it) => [matches(article, it), matches(article, it, "")]);
  const ranges = found.find(({ length }) => length);
  if (!ranges) return;
  if (window.Highlight) CSS.highlights.set("sought", new Highlight(...ranges));
  const [first] = ranges;
  let fold = first.startContainer.parentElement.closest("details");
  for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const { top } = first.getBoundingClientRect();
  scrollBy({ top: top - innerHeight / 2, behavior: "instant" });
});
