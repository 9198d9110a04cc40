// A page opened from a file may not read other files, so the search there shows titles only.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A notebook is for saving, not for reading as text in a tab.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll("a.btn-download-source-button")) {
    link.download = "";
    link.removeAttribute("target");
  }
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
