// The reader's guesses, read from where course_lib/widgets/kit/kept.js keeps them. Nothing leaves the
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

  const SVG = "http://www.w3.org/2000/svg";

  function drawn(name, properties, children = []) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const isShare = (value) => typeof value === "number" && value >= 0 && value <= 1;
  const isPoint = (point) => Array.isArray(point) && point.length === 2 && point.every(isShare);
  const isCurve = (points) => Array.isArray(points) && points.length > 1 && points.every(isPoint);
  const areEnds = (ends) =>
    Array.isArray(ends) && ends.length === 2 && ends.every((end) => typeof end === "string");

  const [WIDE, EDGE] = [300, 12];
  const across = (share) => EDGE + share * (WIDE - 2 * EDGE);

  function axisWith(ends, y) {
    const [low, high] = ends;
    return [
      drawn("path", { class: "axis", d: `M${EDGE} ${y}H${WIDE - EDGE}` }),
      drawn("text", { x: EDGE, y: y + 18 }, [low]),
      drawn("text", { x: WIDE - EDGE, y: y + 18, "text-anchor": "end" }, [high]),
    ];
  }

  /** The way from a guess to its truth, on the axis on which the reader guessed. */
  function pictureOf({ kind, ends, guessAt, truthAt }) {
    if (!areEnds(ends)) return [];
    if (kind === "place" && isShare(guessAt) && isShare(truthAt)) {
      const [from, to] = [guessAt, truthAt].map(across);
      const body = [
        ...axisWith(ends, 16),
        drawn("path", { class: "way", d: `M${from} 16H${to}` }),
        drawn("circle", { class: "you", cx: from, cy: 16, r: 6 }),
        drawn("circle", { class: "truth", cx: to, cy: 16, r: 6 }),
      ];
      return [drawn("svg", { viewBox: `0 0 ${WIDE} 38`, "aria-hidden": "true" }, body)];
    }
    if (kind === "sketch" && isCurve(guessAt) && isCurve(truthAt)) {
      const path = (points) =>
        points.map(([x, y]) => `${across(x).toFixed(1)} ${(6 + 64 * (1 - y)).toFixed(1)}`).join("L");
      const gap = `M${path(guessAt)}L${path(truthAt.toReversed())}Z`;
      const body = [
        ...axisWith(ends, 72),
        drawn("path", { class: "gap", d: gap }),
        drawn("path", { class: "you", d: `M${path(guessAt)}` }),
        drawn("path", { class: "truth", d: `M${path(truthAt)}` }),
      ];
      return [drawn("svg", { viewBox: `0 0 ${WIDE} 94`, "aria-hidden": "true" }, body)];
    }
    return [];
  }

  const numberOf = (page) => Number(/^lectures\/(\d+)_/.exec(page)?.[1] ?? 0);
  /** As in the course: by lecture, then by place on its page. */
  const inOrder = (a, b) => numberOf(a.page) - numberOf(b.page) || a.order - b.order;

  /** All compared guesses on one line, from the truth on the left as far as they were off. */
  function nearness(records) {
    const known = records.filter(({ revealed, far }) => revealed && isShare(far));
    if (!known.length) return [];
    const [BINS, STEP] = [16, 18];
    const heaps = new Map();
    const dot = (kept) => {
      const { page, far, hit, question } = kept;
      const place = Math.round(far * BINS);
      heaps.set(place, (heaps.get(place) ?? 0) + 1);
      const [x, y] = [across(place / BINS), 6 - STEP * heaps.get(place)];
      const how = outcomeOf(kept).map(([name, text]) => (name === "So" ? text : `${name} ${text}`));
      const title = drawn("title", {}, [`${question} ${how}.`]);
      return drawn("g", { class: hit ? "dot hit" : "dot" }, [
        title,
        drawn("circle", { cx: x, cy: y, r: 8 }),
        drawn("text", { x, y: y + 4, "text-anchor": "middle" }, [String(numberOf(page) || "")]),
      ]);
    };
    const dots = known.map(dot);
    const above = 6 + STEP * Math.max(...heaps.values());
    const body = [
      drawn("path", { class: "axis", d: `M${EDGE} 0H${WIDE - EDGE}` }),
      ...dots,
      drawn("text", { x: 2, y: 16 }, ["the truth"]),
      drawn("text", { x: WIDE - 2, y: 16, "text-anchor": "end" }, ["as far as it goes"]),
    ];
    const box = `0 ${-above} ${WIDE} ${above + 20}`;
    const near = known.filter(({ hit, near }) => hit || near).length;
    const sum = `${near} of ${known.length} were right or close. Each dot is a guess, with the number of its lecture.`;
    return [
      element("figure", { className: "guess-nearness" }, [
        drawn("svg", { viewBox: box, role: "img", "aria-label": sum }, body),
        element("figcaption", { textContent: sum }),
      ]),
    ];
  }

  /**
   * How a guess came out, in words, and what stands before them. Of a choice that is wrong no number
   * tells how far off it was: the options differ in what they are.
   */
  function outcomeOf({ kind, off, hit }) {
    if (!off) return [];
    if (hit) return [["So", `✓ ${off}`]];
    return [kind === "choose" ? ["So", "✗ You chose another"] : ["Off by", off]];
  }

  function card(kept) {
    const { page, slug, question, said, revealed, truth, answer, hit } = kept;
    const leads = LECTURE.test(page);
    const title = leads
      ? element("a", { href: `../${page}#${encodeURIComponent(slug)}`, textContent: question })
      : question;
    const told = [["You", said || "no guess"]];
    if (revealed) told.push(["Truth", truth], ...outcomeOf(kept));
    const pairs = told.map(([name, text]) =>
      element("div", {}, [
        element("dt", { textContent: name, className: name === "Truth" ? "is-truth" : "" }),
        element("dd", { textContent: text }),
      ]),
    );
    return element("li", { className: revealed && hit ? "is-hit" : "" }, [
      element("p", { className: "guess-question" }, [title]),
      ...(revealed ? pictureOf(kept) : []),
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
    const records = (keys ?? []).flatMap(record).sort(inOrder);
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
        element("h2", {
          textContent: `${numberOf(page) ? `${numberOf(page)} · ` : ""}${own[0].title || page}`,
        }),
        element("ul", { className: "guess-list" }, own.map(card)),
      ];
    };
    home.replaceChildren(
      ...nearness(records),
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
