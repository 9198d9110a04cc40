// What a reader leaves on a page, kept in the browser and nowhere else. A browser may have no such
// place, forbid it, or have it full: then nothing is kept, and nothing else goes wrong. The page
// book/your_guesses.md reads what stands here.

const MARK = "attention-course:guess:";

/** @template T @param {(storage: Storage) => T} use @returns {T | null} */
function inStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

/** The page, by its folder and its name: whatever host it is on, and wherever it was saved. */
const page = () => decodeURI(location.pathname).split("/").slice(-2).join("/");

/** What names a question on its page, in an address too. @param {string} question */
export const slug = (question) =>
  question
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");

const keyOf = (question) => `${MARK}${page()}#${slug(question)}`;

/** What was kept for a question of this page, if it can be read. @param {string} question */
export const recalled = (question) =>
  inStorage((storage) => JSON.parse(storage.getItem(keyOf(question))));

/**
 * Keeps a record for a question of this page, or no longer keeps one.
 * @param {string} question
 * @param {any} record
 */
export function keep(question, record) {
  const key = keyOf(question);
  inStorage((storage) => {
    if (!record) return storage.removeItem(key);
    const place = { page: page(), title: document.title.split(" — ")[0], slug: slug(question) };
    return storage.setItem(key, JSON.stringify({ ...place, question, ...record }));
  });
  // The page marks a lecture as read once the truth of all its questions is known.
  dispatchEvent(new Event(`${MARK}kept`));
}
