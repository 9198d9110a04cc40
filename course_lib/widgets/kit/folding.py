"""Write a typed name with the letters of an alphabet: replace capitals, accents and hyphens."""

import unicodedata

# Letters that Unicode does not decompose, and their usual replacements.
PLAIN = {
    "ß": "ss",
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ł": "l",
    "ı": "i",
}
# Characters that join the parts of a name are removed.
PLAIN |= dict.fromkeys("-‐‑–'’ ", "")


def folded(text: str, alphabet: str) -> str:
    """``text`` with letters of the ``alphabet`` in place of capitals and accents that it lacks.

    A letter of the alphabet stays. Any other loses its accents and becomes small or capital,
    whichever the alphabet has; hyphens, apostrophes and blanks are removed. A character that is
    still not in the alphabet stays as it is.
    """
    return "".join(_folded(letter, alphabet) for letter in text)


def _folded(letter: str, alphabet: str) -> str:
    if letter in alphabet:
        return letter
    parts = unicodedata.normalize("NFKD", letter)
    bare = "".join(PLAIN.get(p.lower(), p) for p in parts if unicodedata.category(p)[0] != "M")
    tries = (bare, bare.lower(), bare.upper())
    return next((written for written in tries if set(written) <= set(alphabet)), letter)
