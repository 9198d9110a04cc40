// A page opened from a file may not read other files, so the search there shows titles only.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A notebook is for saving, not for reading as text in a tab.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll("a.btn-download-source-button, a.btn-download-library-button")) {
    link.download = "";
    link.removeAttribute("target");
  }
  // The two themes beneath this book call the list of a page's sections differently. Who finds none
  // follows every link of the page, and stumbles over those that set a figure.
  document.body.dataset.bsTarget = ".page-toc";
});

// Paper is light, whatever the screen is, and nothing on it can be opened.
const root = document.documentElement;
let openedForPaper = [];
window.addEventListener("beforeprint", () => {
  root.dataset.themeBeforePrint = root.dataset.theme;
  root.dataset.theme = "light";
  openedForPaper = [...document.querySelectorAll("article details:not([open])")];
  for (const fold of openedForPaper) fold.open = true;
});
window.addEventListener("afterprint", () => {
  root.dataset.theme = root.dataset.themeBeforePrint;
  delete root.dataset.themeBeforePrint;
  for (const fold of openedForPaper) fold.open = false;
});

// What the reader has read is kept in this browser alone, which may not allow it.
const READ = "course-read";
function lecturesRead() {
  try {
    return new Set(JSON.parse(localStorage.getItem(READ) ?? "[]"));
  } catch {
    return new Set();
  }
}
function keepRead(numbers) {
  try {
    localStorage.setItem(READ, JSON.stringify([...numbers]));
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
/** Marks this page's lecture, or takes its mark away. */
function markRead(choose) {
  const lecture = document.querySelector(".read-mark button")?.dataset.lecture;
  if (!lecture) return;
  const numbers = lecturesRead();
  if (choose(numbers.has(lecture))) numbers.add(lecture);
  else numbers.delete(lecture);
  keepRead(numbers);
  showRead(numbers);
}
document.addEventListener("DOMContentLoaded", () => {
  showRead(lecturesRead());
  document
    .querySelector(".read-mark button")
    ?.addEventListener("click", () => markRead((read) => !read));
});
// course_lib/widgets/js/kept.js says that a guess was made, or its truth shown.
window.addEventListener("attention-course:guess:kept", () => {
  const questions = [...document.querySelectorAll(".cw-host[data-widget=Prediction]")];
  const known = questions.every(({ courseModel }) => courseModel?.get("revealed"));
  markRead((read) => read || known);
});

// What scrolls sideways says so, and the keyboard can reach it.
const WIDE =
  "article :is(figure .drawing, mjx-container[display=true], .math.wide mjx-container, .pst-scrollable-table-container, .highlight pre)";
const watchWidth = new ResizeObserver((changes) => {
  const wide = changes.map(({ target }) => [target, target.scrollWidth > target.clientWidth + 1]);
  for (const [box, scrolls] of wide) {
    (box.matches("pre") ? box.parentElement : box).classList.toggle("scrolls", scrolls);
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
});
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  for (const box of document.querySelectorAll(WIDE)) watchWidth.observe(box);
});

// Of pages that say a word as often, the earlier lecture comes first. A result carries the words
// that were sought to its page.
document.addEventListener("DOMContentLoaded", () => {
  const results = document.querySelector("#search-results");
  if (!results) return;
  Scorer.score = ([page, , , , score]) => {
    const lecture = /^lectures\/(\d+)/.exec(page);
    return score + (lecture ? 1 - Number(lecture[1]) / 100 : 0);
  };
  const sought = new URLSearchParams(location.search).get("q") ?? "";
  new MutationObserver(() => {
    for (const link of results.querySelectorAll("li > a:not([href*='?'])")) {
      const [page, section] = link.getAttribute("href").split("#");
      link.href = `${page}?sought=${encodeURIComponent(sought)}${section ? `#${section}` : ""}`;
    }
  }).observe(results, { childList: true, subtree: true });
});

function matches(within, words) {
  const pattern = new RegExp(words.join("|"), "gi");
  const texts = document.createTreeWalker(within, NodeFilter.SHOW_TEXT, (text) =>
    text.parentElement.closest("script, style, mjx-container, .cw-host")
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  );
  const ranges = [];
  while (texts.nextNode()) {
    for (const { index, 0: word } of texts.currentNode.data.matchAll(pattern)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      ranges.push(range);
    }
  }
  return ranges;
}

window.addEventListener("load", async () => {
  const words = new URLSearchParams(location.search).get("sought")?.match(/[\p{L}\p{N}]+/gu);
  const section = location.hash && document.getElementById(location.hash.slice(1));
  const article = section || document.querySelector("article");
  if (!words || !article) return;
  await window.MathJax?.startup?.promise;
  const ranges = matches(article, words);
  if (ranges.length === 0) return;
  if (window.Highlight) CSS.highlights.set("sought", new Highlight(...ranges));
  const first = ranges[0].startContainer.parentElement;
  const fold = first.closest("details");
  if (fold) fold.open = true;
  first.scrollIntoView({ block: "center", behavior: "instant" });
});
