// The reader's guesses, read from where course_lib/widgets/js/kept.js keeps them. Nothing leaves the
// browser but the file that the reader asks for.
(() => {
  const MARK = "attention-course:guess:";
  const ANSWERED = "attention-course:answered";
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

  const counted = (count, one) => `${count} ${one}${count === 1 ? "" : "es"}`;

  /** What a lecture has of the reader, in a few words. */
  function stateOf(records) {
    if (!records.length) return "no guess yet";
    const open = records.filter(({ revealed }) => !revealed).length;
    if (!open) return `${counted(records.length, "guess")} compared`;
    return `${counted(records.length, "guess")}, ${open} not compared with the truth yet`;
  }

  /** The numbers of the lectures whose questions are all answered, as course.js keeps them. */
  function answered() {
    try {
      return JSON.parse(localStorage.getItem(ANSWERED) ?? "[]");
    } catch {
      return [];
    }
  }

  /** The lectures whose questions are not all answered, whether they are marked as read or not. */
  function waiting(records) {
    const done = answered();
    const links = [...document.querySelectorAll(".bd-links a[data-lecture]")].filter(
      ({ dataset }) => !done.includes(dataset.lecture),
    );
    if (!links.length) return [];
    const entry = (link) => {
      const page = link.pathname.split("/").slice(-2).join("/");
      const own = records.filter((one) => one.page === page);
      return element("li", {}, [
        element("a", { href: link.href, textContent: link.firstChild.textContent.trim() }),
        `: ${stateOf(own)}`,
      ]);
    };
    return [
      element("h2", { textContent: "Lectures that still ask you" }),
      element("ul", { className: "guess-waiting" }, links.map(entry)),
    ];
  }

  function card({ page, slug, question, said, revealed, truth, off, hit, answer }) {
    const leads = LECTURE.test(page);
    const title = leads
      ? element("a", { href: `../${page}#${encodeURIComponent(slug)}`, textContent: question })
      : question;
    const told = [["You", said || "no guess"]];
    if (revealed) told.push(["Truth", truth], ...(off ? [[hit ? "So" : "Off by", off]] : []));
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
    for (const key of [...keys, ANSWERED]) localStorage.removeItem(key);
    show();
  }

  function show() {
    const keys = kept();
    const records = (keys ?? []).flatMap(record);
    if (!records.length) {
      const why = keys ? "You have not guessed yet." : "This browser keeps nothing for this page.";
      home.replaceChildren(element("p", { textContent: why }), ...waiting([]));
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
      ...waiting(records),
    );
  }

  addEventListener("storage", show);
  addEventListener("pageshow", show);
  show();
})();
