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
  // The two themes beneath this book call the list of a page's sections differently. Who finds none
  // follows every link of the page, and stumbles over those that set a figure.
  document.body.dataset.bsTarget = ".page-toc";
});

// Paper is light, whatever the screen is.
const root = document.documentElement;
window.addEventListener("beforeprint", () => {
  root.dataset.themeBeforePrint = root.dataset.theme;
  root.dataset.theme = "light";
});
window.addEventListener("afterprint", () => {
  root.dataset.theme = root.dataset.themeBeforePrint;
  delete root.dataset.themeBeforePrint;
});
