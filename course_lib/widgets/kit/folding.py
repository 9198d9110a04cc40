"""Reading a typed name with a model's letters: capitals, accents and hyphens give way."""

import unicodedata

# What Unicode takes for letters of their own, as they are written where they are missing.
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
# What joins the parts of a name is left out where it is missing.
PLAIN |= dict.fromkeys("-‐‑–'’ ", "")


def folded(text: str, alphabet: str) -> str:
    """``text`` in letters of the ``alphabet``, as far as capitals and accents stood in the way.

    A letter of the alphabet stays. Any other loses its accents, and is written small or large,
    whichever the alphabet has; hyphens, apostrophes and blanks are left out. What even then is not
    in it stays as it is.
    """
    return "".join(_folded(letter, alphabet) for letter in text)


def _folded(letter: str, alphabet: str) -> str:
    if letter in alphabet:
        return letter
    parts = unicodedata.normalize("NFKD", letter)
    bare = "".join(PLAIN.get(p.lower(), p) for p in parts if unicodedata.category(p)[0] != "M")
    tries = (bare, bare.lower(), bare.upper())
    return next((written for written in tries if set(written) <= set(alphabet)), letter)
