"""What widgets ask of an alphabet, whose character i is id i, and of texts written in it."""

from __future__ import annotations


def check_alphabet(alphabet: object, vocabulary: int) -> None:
    """Raise unless ``alphabet`` is a string of distinct characters, one for each id."""
    if not isinstance(alphabet, str):
        raise TypeError(
            f"alphabet is {alphabet!r}; expected a string whose character i is id i; "
            "join a list of letters with ''.join(letters)"
        )
    repeated = [letter for letter in dict.fromkeys(alphabet) if alphabet.count(letter) > 1]
    if repeated:
        raise ValueError(
            f"alphabet repeats {', '.join(map(repr, repeated))}; expected distinct characters, "
            "since the place of a letter is its id"
        )
    if len(alphabet) != vocabulary:
        raise ValueError(
            f"alphabet has {len(alphabet)} characters and model {vocabulary} ids; expected one "
            "character for each id, marks such as that of a start included"
        )


def check_letters(name: str, text: str, alphabet: str) -> None:
    """Raise ``ValueError`` for a letter that the alphabet does not have."""
    strange = [letter for letter in dict.fromkeys(text) if letter not in alphabet]
    if strange:
        raise ValueError(
            f"{name} {text!r} holds {', '.join(map(repr, strange))}, which the alphabet "
            f"{alphabet!r} does not have; write it with letters of the alphabet"
        )


def id_of(name: str, mark: object, alphabet: str, *, others: str = "") -> int:
    """The id of a character; ``others`` says in errors what else could be given."""
    if not isinstance(mark, str):
        raise TypeError(f"{name} is {mark!r}; expected a character of the alphabet{others}")
    if len(mark) != 1 or mark not in alphabet:
        raise ValueError(
            f"{name} is {mark!r}; expected one character of the alphabet {alphabet!r}{others}"
        )
    return alphabet.index(mark)


def visible(text: str) -> str:
    """The text with marks for spaces and line breaks."""
    return text.replace(" ", "␣").replace("\n", "⏎")
