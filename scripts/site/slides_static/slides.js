// Formulas are set while every slide is laid out; then reveal.js takes over.

const THEME = "slides-theme";
const LIVE = ".cw-host, .cw, input, select, textarea, summary";

function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // A page opened from a file may not be allowed to remember.
  }
}

function otherTheme() {
  useTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}

try {
  useTheme(localStorage.getItem(THEME) ?? "light");
} catch {
  useTheme("light");
}

function enlarge() {
  const scale = Math.max(1, Math.min(innerWidth / 1152, innerHeight / 648));
  document.documentElement.style.setProperty("--large", scale);
}
enlarge();
addEventListener("resize", enlarge);

function present() {
  document.body.classList.remove("typesetting");
  for (const output of document.querySelectorAll(".cell_output")) output.dataset.preventSwipe = "";
  // A link within a formula is drawn but not announced, so it must not take the focus.
  for (const link of document.querySelectorAll("mjx-container a")) link.removeAttribute("href");
  Reveal.initialize({
    plugins: [RevealNotes],
    disableLayout: true,
    hash: true,
    slideNumber: "c/t",
    transition: "none",
    scrollActivationWidth: 0,
    // While a figure has the focus, its keys are its own; Escape gives them back, unless a figure that
    // fills the window takes it to leave.
    keyboardCondition: (event) => {
      const live = document.activeElement?.closest(LIVE);
      const back = event.key === "Escape" && !event.defaultPrevented;
      if (live && back) document.activeElement.blur();
      return !live;
    },
    keyboard: { 68: otherTheme },
  });
}

window.MathJax = {
  options: { enableMenu: false, ignoreHtmlClass: "output|highlight", processHtmlClass: "tex|math" },
  startup: {
    pageReady: () => MathJax.startup.defaultPageReady().then(present),
  },
};
