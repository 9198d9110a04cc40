// The reader's guesses, read from where course_lib/widgets/js/kept.js keeps them. Nothing leaves the
// browser but the file that the reader asks for.
(() => {
  const MARK = "attention-course:guess:";
  const LECTURE = /^lectures\/\w+\.html$/;
  const home = document.getElementById("guess-cards");

  function element(name, properties = {}, children = []) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function record(key) {
    try {
      const found = JSON.parse(localStorage.getItem(key));
      return typeof found?.question === "string" ? [found] : [];
    } catch {
      return [];
    }
  }

  /** The keys of what is kept; null where the browser keeps nothing. */
  function kept() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(MARK)).sort();
    } catch {
      return null;
    }
  }

  function card({ page, slug, question, said, revealed, truth, off, answer }) {
    const leads = LECTURE.test(page);
    const title = leads
      ? element("a", { href: `../${page}#${encodeURIComponent(slug)}`, textContent: question })
      : question;
    const told = [["You", said || "no guess"]];
    if (revealed) told.push(["Truth", truth], ...(off ? [["Off by", off]] : []));
    const pairs = told.map(([name, text]) =>
      element("div", {}, [
        element("dt", { textContent: name }),
        element("dd", { textContent: text }),
      ]),
    );
    return element("li", {}, [
      element("p", { className: "guess-question" }, [title]),
      element("dl", {}, pairs),
      element("p", { textContent: revealed ? answer : "Not compared with the truth yet." }),
    ]);
  }

  function save(records) {
    const text = JSON.stringify(records, null, 2);
    const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    element("a", { href: url, download: "your_guesses.json" }).click();
    URL.revokeObjectURL(url);
  }

  function erase(keys) {
    if (!confirm(`Erase your ${keys.length} answers? Nobody else has a copy.`)) return;
    for (const key of keys) localStorage.removeItem(key);
    show();
  }

  function show() {
    const keys = kept();
    const records = (keys ?? []).flatMap(record);
    if (!records.length) {
      const why = keys ? "You have not guessed yet." : "This browser keeps nothing for this page.";
      home.replaceChildren(element("p", { textContent: why }));
      return;
    }
    const pages = [...new Set(records.map(({ page }) => page))];
    const compared = records.filter(({ revealed }) => revealed).length;
    const sum = `Questions: ${records.length}. Compared with the truth: ${compared}.`;
    const button = (text, press) =>
      element("button", { type: "button", textContent: text, onclick: press });
    const ofPage = (page) => {
      const own = records.filter((one) => one.page === page);
      return [
        element("h2", { textContent: own[0].title || page }),
        element("ul", { className: "guess-list" }, own.map(card)),
      ];
    };
    home.replaceChildren(
      element("p", { textContent: sum }),
      element("p", { className: "guess-deeds" }, [
        button("Save as a file", () => save(records)),
        button("Erase all …", () => erase(keys)),
      ]),
      ...pages.flatMap(ofPage),
    );
  }

  addEventListener("storage", show);
  addEventListener("pageshow", show);
  show();
})();
