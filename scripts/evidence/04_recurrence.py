"""Evidence of lecture 4: networks that count, tag, write and forget, and their rivals.

make evidence N=04
"""

import math
import sys
from collections.abc import Iterator
from functools import partial
from string import ascii_uppercase as alphabet

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.generation import AbsoluteDiscounting
from course_lib.models.words.recall import Recaller, passages, recall, untrained, with_open_gate
from course_lib.models.words.spelling import census_names
from course_lib.models.words.syllables import (
    BLANK,
    HELD_OUT_WORDS,
    MOST_SYLLABLES,
    load_syllable_reader,
    one_hot,
    spelled,
    syllable_words,
    syllables_by_rule,
)
from course_lib.recurrent import GRU, LSTM, RNN, lstm_gates, lstm_step
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, parameter_count, seed

LONGEST = 15  # letters that a network may write
STOP = BLANK  # as an output, the 27th letter ends a word


def shuffled(words: set[str], generator: torch.Generator) -> list[str]:
    """The words in random order."""
    ordered = sorted(words)
    return [ordered[i] for i in torch.randperm(len(ordered), generator=generator)]


def share(right: Tensor) -> float:
    """The share that is right."""
    return right.double().mean().item()


# Inside the reader -----------------------------------------------------------------------------


def inside(word: str) -> tuple[Tensor, Tensor, Tensor]:
    """Forget gates, cells and the probabilities of one to five syllables after each letter."""
    reader = load_syllable_reader()
    hidden, memory, rows = torch.zeros(32), torch.zeros(32), []
    with torch.no_grad():
        for token in reader.cell.from_input(one_hot(spelled([word])))[0]:
            sums = token, reader.cell.from_hidden(hidden)
            hidden, memory = lstm_step(*sums, memory)
            rows.append((lstm_gates(*sums).forget, memory, reader.readout(hidden).softmax(-1)))
    forget, memories, chances = map(torch.stack, zip(*rows, strict=True))
    return forget, memories, chances


@experiment([{"word": word} for word in ("MAKER", "LIKED", "LANDED", "BANANA")])
def reading(*, word: str) -> Row:
    """The reader's prediction after each letter of a word, and how much its units keep."""
    forget, memory, chances = inside(word)
    kept = forget.log().mean(0).exp()  # at each letter, in the geometric mean
    return {
        "counts": (chances.argmax(-1) + 1).tolist(),
        "one": chances[:, 0].tolist(),
        "two": chances[:, 1].tolist(),
        "forget": forget.T.tolist(),
        "unit_20": memory[:, 19].tolist(),
        "kept": kept.tolist(),
    }


@experiment()
def units() -> Row:
    """The states of the reader's units after unseen words, and its accuracy without each."""
    reader = load_syllable_reader()
    words = syllable_words()
    unseen = list(words)[:HELD_OUT_WORDS]
    truth = torch.tensor([words[word] for word in unseen])
    ids = spelled(unseen)
    last = (ids < BLANK).sum(-1) - 1
    gates = torch.cat([inside(word)[0] for word in unseen[:200]])
    lives = math.log(0.5) / gates.log().mean(0)  # the half-life in letters
    hidden, memory = torch.zeros(len(ids), 32), torch.zeros(len(ids), 32)
    with torch.no_grad():
        for t, token in enumerate(reader.cell.from_input(one_hot(ids)).unbind(1)):
            after = lstm_step(token, reader.cell.from_hidden(hidden), memory)
            read = (t <= last)[:, None]
            hidden, memory = (
                torch.where(read, new, old)
                for new, old in zip(after, (hidden, memory), strict=True)
            )
        ablated = []
        for unit in range(32):
            without = hidden.clone()
            without[:, unit] = hidden[:, unit].mean()
            ablated.append(share(reader.readout(without).argmax(-1) + 1 == truth))
        right = share(reader.readout(hidden).argmax(-1) + 1 == truth)
    agreement = {
        counted: torch.corrcoef(torch.cat([number[None].float(), memory.T]))[0, 1:].abs()
        for counted, number in (("letters", last + 1), ("syllables", truth))
    }
    ruled = torch.tensor([syllables_by_rule(word) for word in unseen])
    return {
        "trained_words": len(words) - HELD_OUT_WORDS,
        "unseen_words": HELD_OUT_WORDS,
        "lstm_right": right,
        "always_two": share(truth == truth.mode().values),
        "rule_right": share(ruled == truth),
        "standard_error": math.sqrt(right * (1 - right) / HELD_OUT_WORDS),
        "counts_letters": agreement["letters"].argmax().item() + 1,
        "counts_letters_how": agreement["letters"].max().item(),
        "counts_syllables": agreement["syllables"].argmax().item() + 1,
        "counts_syllables_how": agreement["syllables"].max().item(),
        "short_life": lives.min().item(),
        "middle_life": lives.median().item(),
        "long_life": lives.max().item(),
        "ablated": min(ablated),
    }


# Where does the surname begin? -----------------------------------------------------------------


class Tagger(nn.Module):
    """Two logits for each letter, read from the left and, if ``both_ways``, from the right."""

    def __init__(self, d_hidden: int, *, both_ways: bool) -> None:
        super().__init__()
        self.forwards = nn.GRU(BLANK, d_hidden, batch_first=True)  # faster than ours and the same
        self.backwards = nn.GRU(BLANK, d_hidden, batch_first=True) if both_ways else None
        self.readout = nn.Linear((1 + both_ways) * d_hidden, 2)

    def forward(self, ids: Tensor) -> Tensor:
        """Read from left to right and, if ``both_ways``, from right to left."""
        x = one_hot(ids)
        states, _ = self.forwards(x)
        if self.backwards is not None:
            reversed_states, _ = self.backwards(x.flip(1))
            states = torch.cat([states, reversed_states.flip(1)], dim=-1)
        return self.readout(states)


def tag_loss(tagger: Tagger, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The cross-entropy of the tags, without blanks."""
    ids, tags = batch
    return F.cross_entropy(tagger(ids).flatten(0, 1), tags.flatten())


@experiment([{"steps": 20}, {"steps": 300}], within=0.02)
def tagging(*, steps: int) -> Row:
    """The accuracy of taggers of equal size, by letters and by whole names."""
    firsts = shuffled(census_names("first:female", "first:male") - {"JOSEPHINE"}, seed(0))
    firsts = ["JOSEPHINE", *firsts]
    random = seed(1)
    lasts = shuffled(census_names("last"), random)
    held_out_firsts, held_out_lasts = 1000, 80_000

    def joined(ones: list[str], others: list[str], count: int) -> tuple[Tensor, Tensor]:
        one = [ones[i] for i in torch.randint(len(ones), (count,), generator=random)]
        two = [others[i] for i in torch.randint(len(others), (count,), generator=random)]
        ids = spelled([a + b for a, b in zip(one, two, strict=True)])
        begins = torch.tensor([len(a) for a in one])
        tags = (torch.arange(ids.shape[1]) >= begins[:, None]).long()
        return ids, tags.masked_fill(ids == BLANK, -100)

    test_ids, test_tags = joined(firsts[:held_out_firsts], lasts[held_out_lasts:], 2000)
    lessons = [joined(firsts[held_out_firsts:], lasts[:held_out_lasts], 128) for _ in range(steps)]
    found: Row = {"first_count": len(firsts), "last_count": len(lasts)}
    for way, both_ways, width in (("forward", False, 50), ("both", True, 32)):
        tagger = Tagger(width, both_ways=both_ways)
        fit(tagger, tag_loss, lessons, steps=steps, learning_rate=1e-2, clip=1.0, progress=False)
        with torch.no_grad():
            right = tagger(test_ids).argmax(-1) == test_tags
            surname = tagger(spelled(["JOSEPHINEBAKER"]))[0].softmax(-1)[:, 1]
        found[f"tag_{way}"] = share(right[test_tags >= 0])
        found[f"whole_{way}"] = share((right | (test_tags < 0)).all(-1))
        found[f"surname_{way}"] = surname.tolist()
        found[f"numbers_{way}"] = parameter_count(tagger)
    return found


# Words with a given number of syllables ----------------------------------------------------------


class Writer(nn.Module):
    """Logits of the next letter, from a number of syllables (0 for one) and the letters so far."""

    def __init__(self, d_hidden: int = 64) -> None:
        super().__init__()
        self.cell = LSTM(BLANK + MOST_SYLLABLES, d_hidden)
        self.readout = nn.Linear(d_hidden, BLANK + 1)

    def forward(self, number: Tensor, ids: Tensor) -> Tensor:
        """The number goes in first, then the letters of a real word: teacher forcing."""
        start = F.one_hot(BLANK + number, BLANK + MOST_SYLLABLES).float()
        letters = F.pad(one_hot(ids), (0, MOST_SYLLABLES))
        outputs, _ = self.cell(torch.cat([start[:, None], letters], dim=1))
        return self.readout(outputs)

    @torch.no_grad()
    def write(self, number: int, count: int, generator: torch.Generator) -> list[str]:
        """Draw letter after letter, each the next input, until a full stop is drawn."""
        first = torch.full((count, 1), BLANK + number)
        token = F.one_hot(first, BLANK + MOST_SYLLABLES).float()
        state, drawn = None, []
        for _ in range(LONGEST):
            outputs, state = self.cell(token, state)
            chances = self.readout(outputs[:, -1]).softmax(-1)
            letter = torch.multinomial(chances, 1, generator=generator)
            drawn.append(letter)
            token = F.pad(one_hot(letter), (0, MOST_SYLLABLES))
        rows = torch.cat([*drawn, torch.full((count, 1), STOP)], dim=1).tolist()
        return ["".join(alphabet[i] for i in row[: row.index(STOP)]) for row in rows]


def surprise(writer: Writer, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The mean of −log of the probability of each next letter, the full stop included."""
    number, ids = batch
    target = F.pad(ids, (0, 1), value=STOP)
    target = target.masked_fill((target == STOP).cumsum(-1) > 1, -100)
    return F.cross_entropy(writer(number, ids).flatten(0, 1), target.flatten())


def some_words(
    count: int, lists: list[list[str]], generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Random words of these lists, of each number of syllables in equal shares."""
    number = torch.randint(MOST_SYLLABLES, (count,), generator=generator)
    place = torch.rand(count, generator=generator)
    chosen = [lists[n][int(p * len(lists[n]))] for n, p in zip(number, place, strict=True)]
    return number, spelled(chosen)


def as_asked(lists: list[list[str]]) -> float:
    """The share with the right number of syllables by the rule, averaged over numbers."""
    return float(
        np.mean(
            [
                np.mean([syllables_by_rule(word) == n for word in some])
                for n, some in enumerate(lists, start=1)
            ]
        )
    )


def rows_of(number: Tensor, ids: Tensor) -> Iterator[list[int]]:
    """Each word as a list: its number of syllables, its letters, the full stop."""
    for n, row in zip(number.tolist(), ids.tolist(), strict=True):
        yield [BLANK + 1 + n, *[letter for letter in row if letter != BLANK], STOP]


@experiment([{"steps": 20}, {"steps": 300}], within=0.05)
def writing(*, steps: int) -> Row:
    """Words that a network writes for a number of syllables, beside a table with back-off."""
    random = seed(2)
    words = syllable_words()
    unseen, trained = (
        [[word for word in part if words[word] == n] for n in range(1, MOST_SYLLABLES + 1)]
        for part in (list(words)[:HELD_OUT_WORDS], list(words)[HELD_OUT_WORDS:])
    )
    writer = Writer()
    pages = [some_words(128, trained, random) for _ in range(steps)]
    fit(writer, surprise, pages, steps=steps, learning_rate=1e-2, clip=1.0, progress=False)
    written = [writer.write(n, 400, random) for n in range(MOST_SYLLABLES)]
    asked = some_words(2000, unseen, random)
    table = AbsoluteDiscounting(  # five characters back, Kneser–Ney; lecture 7 has the formula
        (row for page in pages for row in rows_of(*page)),
        symbols=BLANK + 1 + MOST_SYLLABLES,
        order=6,
        discount=0.9,
        continuation=True,
    )

    def copied(number: int) -> str:
        row = [BLANK + 1 + number]
        while row[-1] != STOP and len(row) <= LONGEST:
            chances = table.probabilities(row)[: BLANK + 1]
            row.append(torch.multinomial(chances, 1, generator=random).item())
        return "".join(alphabet[i] for i in row[1:] if i != STOP)

    from_table = [[copied(n) for _ in range(100)] for n in range(MOST_SYLLABLES)]
    with torch.no_grad():
        bits = surprise(writer, asked).item() / math.log(2)
    return {
        "written": [" ".join(some[:6]) for some in written],
        "bits_network": bits,
        "bits_table": torch.cat([table.bits([row])[1:] for row in rows_of(*asked)]).mean().item(),
        "kept_network": as_asked(written),
        "kept_table": as_asked(from_table),
        "kept_unseen": as_asked(unseen),
        "writer_numbers": parameter_count(writer),
        "table_numbers": sum(map(len, table.counts.values())),
    }


# How far a gradient reaches back ---------------------------------------------------------------

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(number: float) -> str:
    """The nearest power of ten, as it is written."""
    return "10" + str(round(math.log10(number))).translate(RAISED)


def spectral_radius(matrix: Tensor) -> float:
    """The largest modulus of an eigenvalue."""
    return torch.linalg.eigvals(matrix).abs().max().item()


def gradient_by_lag(cell: nn.Module, ids: Tensor, generator: torch.Generator) -> list[float]:
    """The gradient norm of a random mix of last outputs with respect to each token; lag 0 first."""
    x = one_hot(ids).double().requires_grad_()
    last = cell(x)[0][:, -1]
    mix = torch.randn(*last.shape, generator=generator, dtype=torch.float64)
    (gradient,) = torch.autograd.grad((last * mix).sum(), x)
    return gradient.norm(dim=-1).mean(0).flip(0).tolist()


@experiment()
def radii() -> Row:
    """The gradient by lag in plain networks of four spectral radii, and the default radius."""
    random = seed(5)
    ids = passages(32, 100, random)
    found = {}
    for radius in (0.5, 0.9, 1.2, 2.0):
        cell = RNN(BLANK, 64).double()
        with torch.no_grad():
            cell.weight_hh_l0.normal_()
            cell.weight_hh_l0.mul_(radius / spectral_radius(cell.weight_hh_l0))
        found[f"radius_{radius}"] = gradient_by_lag(cell, ids, random)
    slope = np.polyfit(range(5, 60), np.log(found["radius_0.5"][5:60]), 1)[0]
    return {
        **found,
        "slope_half": math.exp(slope),
        "vanished": power_of_ten(found["radius_0.9"][99] / found["radius_0.9"][0]),
        "radius_made": spectral_radius(RNN(BLANK, 64).weight_hh_l0),
    }


@experiment()
def open_gates() -> Row:
    """The gradient by lag in five untrained cells, and how much is left some letters earlier."""
    ids = passages(32, 100, seed(5))
    random = seed(6)
    cells = {
        "RNN": RNN(BLANK, 64),
        "GRU": GRU(BLANK, 64),
        "LSTM": LSTM(BLANK, 64),
        "GRU, bias 4": with_open_gate(GRU(BLANK, 64)),
        "LSTM, bias 4": with_open_gate(LSTM(BLANK, 64)),
    }
    found = {kind: gradient_by_lag(cell.double(), ids, random) for kind, cell in cells.items()}

    def left(kind: str, lag: int) -> float:
        return found[kind][lag] / found[kind][0]

    return {
        **found,
        **{f"lost_{kind}": power_of_ten(left(kind, 60)) for kind in ("RNN", "GRU", "LSTM")},
        **{f"lost_12_{kind}": power_of_ten(left(kind, 12)) for kind in ("GRU", "LSTM")},
        "kept_gru": left("GRU, bias 4", 60),
        "kept_lstm": left("LSTM, bias 4", 60),
    }


# Solutions of exercises ------------------------------------------------------------------------


class CutRecaller(Recaller):
    """No gradient passes the middle of the passage; the state does."""

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of the first letter."""
        x = one_hot(ids)
        half = x.shape[1] // 2
        _, state = self.cell(x[:, :half])
        outputs, _ = self.cell(x[:, half:], tuple(part.detach() for part in state))
        return self.readout(outputs[:, -1])


def rotating() -> nn.Module:
    """A plain cell whose recurrent matrix starts out orthogonal."""
    cell = untrained("RNN")
    nn.init.orthogonal_(cell.weight_hh_l0)
    return cell


@experiment([{"number": number} for number in range(3)], within=0.1)
def other_recallers(*, number: int) -> Row:
    """First letters recalled: a rotation after 150 steps, truncated back-propagation after 450."""
    cut = recall(lambda: untrained("LSTM, bias 4"), number=number, kind=CutRecaller)
    return {"turned": recall(rotating, number=number)[0], "cut_recall": cut[1]}


@experiment(within=0.1)
def patient_recall() -> Row:
    """First letters that the LSTM without a bias recalls after three times the steps."""
    make = partial(untrained, "LSTM")
    return {"patient": [recall(make, number=n, asked=(1350,))[0] for n in range(3)]}


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
