"""Evidence of lecture 7 beyond its page: n-gram tables, probes, drafts, caches.

Where ``part`` is more than 1, a 1/``part`` share of the towns and of the training is used.
"""

import itertools
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache

import torch
from num2words import num2words
from torch import Tensor
from torch.nn import functional as F

from course_lib.generation import (
    AbsoluteDiscounting,
    KeyValueCache,
    accept_or_replace,
    acceptance_rate,
    encode,
    learn_merges,
    sample,
    speculative_decoding,
)
from course_lib.models.stored import DATA
from course_lib.models.words.name_decoder import (
    END,
    LANDS,
    LONGEST,
    load_name_decoder,
    load_towns,
    town_batches,
    town_bits,
    town_rows,
    town_surprise,
)
from course_lib.models.words.number_words import (
    NumberWords,
    load_number_words,
    translated,
    translation_surprise,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, parameter_count, seed
from course_lib.transformer import BlockAttention, Decoder, EncoderDecoder

UNSEEN, SEEN, ALPHABET = load_towns()
COUNTRIES = [*LANDS.values()]
BACK = 5
PARTS = ({"part": 40}, {"part": 1})
Bits = Callable[[list[str]], Tensor]


@cache
@torch.enable_grad()
def small_decoder(part: int) -> Decoder:
    """The decoder that the page trains, or one trained for fewer steps."""
    random = seed(0)
    writer = Decoder(len(ALPHABET), d_model=48, heads=4, layers=2, tokens=LONGEST)
    for steps, rate in ((450 // part, 5e-3), (250 // part, 1.5e-3), (100 // part, 4e-4)):
        supply = town_batches(SEEN, ALPHABET, size=64, steps=steps, generator=random)
        fit(
            writer, town_surprise, supply, steps=steps, learning_rate=rate, clip=1.0, progress=False
        )
    return writer.eval()


def as_ids(text: str) -> list[int]:
    """The ids that a table counts: the letters, and the mark that ends the text."""
    return [ALPHABET.index(letter) for letter in text + END]


@cache
def table(
    part: int, back: int = BACK, keep: int = 3, *, continuation: bool = True
) -> AbsoluteDiscounting:
    """The table with ``back`` letters of context; the first ``keep`` letters are the country."""
    return AbsoluteDiscounting(
        map(as_ids, SEEN[::part]),
        symbols=len(ALPHABET),
        order=back + 1,
        discount=0.9,
        keep=keep,
        continuation=continuation,
    )


def sums_of_decoder(decoder: Decoder) -> Bits:
    """The bits of each text under a decoder."""

    def bits_of(texts: list[str]) -> Tensor:
        groups = (texts[i : i + 1000] for i in range(0, len(texts), 1000))
        rows = (town_rows(group, ALPHABET) for group in groups)
        return torch.cat([town_bits(decoder, each).nansum(1) for each in rows]).double()

    return bits_of


def sums_of_table(counted: AbsoluteDiscounting) -> Bits:
    """The bits of each text under a table."""

    def bits_of(texts: list[str]) -> Tensor:
        flat = counted.bits(map(as_ids, texts))
        return torch.stack([row.sum() for row in flat.split([len(text) + 1 for text in texts])])

    return bits_of


def judges(part: int) -> dict[str, Bits]:
    """The two decoders and the table, each as a function from texts to bits."""
    return {
        "small": sums_of_decoder(small_decoder(part)),
        "large": sums_of_decoder(load_name_decoder()),
        "table": sums_of_table(table(part)),
    }


@experiment(PARTS, within=0.02)
def lappajaer(part: int) -> Row:
    """The small decoder gives Lappajär to Finland, and prefers other letters before the v."""
    writer, v = small_decoder(part), ALPHABET.index("v")
    with torch.no_grad():
        bet = writer(town_rows(["fi Lappajär"], ALPHABET)[0, :-1])[-1].softmax(-1)
    rows = town_rows([f"{country} Lappajär" for country in COUNTRIES], ALPHABET)
    where = (-math.log(2) * town_bits(writer, rows)[:, 3:11].sum(1)).softmax(0)
    rank = (bet > bet[v]).sum().item() + 1
    return {
        "bet_on_finland": where[COUNTRIES.index("fi")].item(),
        "best_after_jaer": ALPHABET[bet.argmax()],
        "best_bet": bet.max().item(),
        "bet_on_v": bet[v].item(),
        "rank_of_v": num2words(rank, to="ordinal"),
        "before_v": rank - 1,
        "lakes": sum("järvi" in text for text in SEEN),
    }


@experiment(PARTS, within=0.02)
def along_names(part: int) -> Row:
    """The first letter of a name costs most, the second least; another country costs more."""
    judged, writer = UNSEEN[::part], small_decoder(part)
    swapped = [COUNTRIES[(COUNTRIES.index(text[:2]) + 3) % 10] + text[2:] for text in judged]
    length = torch.tensor([len(text) for text in judged])[:, None]
    each = town_bits(writer, town_rows(judged, ALPHABET))
    of_letters, elsewhere = (
        bits.scatter(1, length, math.nan)[:, 3:15]  # without the country and the end mark
        for bits in (each, town_bits(writer, town_rows(swapped, ALPHABET)))
    )
    by_place, moved = of_letters.nanmean(0), elsewhere.nanmean(0)
    return {
        "own": by_place.tolist(),
        "another": moved.tolist(),
        "fewest": (of_letters >= 0).sum(0).min().item(),
        "first_letter": by_place[0].item(),
        "second_letter": by_place[1].item(),
        "lowest_middle": by_place[2:10].min().item(),
        "highest_middle": by_place[2:10].max().item(),
        "end_mark": each.gather(1, length).mean().item(),
        "extra_tenth": (moved - by_place)[9].item(),
        "extra_least": (moved - by_place).min().item(),
        "extra_most": (moved - by_place).max().item(),
    }


@experiment(PARTS, within=0.02)
def shared_parts(part: int) -> Row:
    """Letters that end three letters often found in training cost less than others."""
    judged = UNSEEN[::part]
    bits = town_bits(small_decoder(part), town_rows(judged, ALPHABET)).tolist()
    triples = Counter(text[i - 2 : i + 1] for text in SEEN for i in range(4, len(text)))
    costs = {"never": [], "1 to 9 times": [], "10 to 99 times": [], "100 times or more": []}
    for text, row in zip(judged, bits, strict=True):
        for i in range(4, len(text)):
            often = triples[text[i - 2 : i + 1]]
            [*costs.values()][sum(often >= least for least in (1, 10, 100))].append(row[i])
    found = {often: sum(rows) / max(len(rows), 1) for often, rows in costs.items()}
    found |= {"cheap": found["100 times or more"], "dear": found["never"]}
    return found | {"fewest": min(map(len, costs.values()))}


@experiment(PARTS, within=0.02)
def heads(part: int) -> Row:
    """One head of the small decoder attends to the country; none much to the letter before."""
    texts = UNSEEN[::part]
    read = town_rows(texts, ALPHABET)[:, :-1]
    with torch.no_grad():
        seen_by_heads = small_decoder(part).attention_weights(read.clamp(min=0))
    spot, country = torch.arange(read.shape[1]), len("fi ")
    length = torch.tensor([len(text) for text in texts])
    in_the_name = (spot > country) & (spot <= length[:, None])  # letters as queries

    def mean_share(weight: Tensor) -> Tensor:
        return weight.transpose(1, 2)[:, :, in_the_name].mean(-1)

    one_back = mean_share(F.pad(seen_by_heads.diagonal(-1, dim1=-2, dim2=-1), (1, 0)))
    on_country = mean_share(seen_by_heads[..., 1:3].sum(-1))
    layer, head = divmod(on_country.argmax().item(), 4)
    return {
        "country_head": f"head {head + 1} of layer {layer + 1}",
        "on_country": on_country.max().item(),
        "letter_before": one_back.max().item(),
        "evenly": (1 / (spot + 1.0)).expand(read.shape)[in_the_name].mean().item(),
    }


@experiment(PARTS, within=0.02)
def bets(part: int) -> Row:
    """Kneser-Ney needs fewer bits than the large decoder; their mean needs fewer still."""
    judged = UNSEEN[::part]
    rows, length = town_rows(judged, ALPHABET), torch.tensor([len(text) + 1 for text in judged])
    by_table = {k: table(part, k).bits(map(as_ids, judged)) for k in range(2, 6)}
    plain, forgetful = (
        other.bits(map(as_ids, judged)).mean().item()
        for other in (table(part, 4, continuation=False), table(part, keep=0))
    )
    small, large = (town_bits(it, rows) for it in (small_decoder(part), load_name_decoder()))
    both = torch.stack([by_table[BACK], large[~large.isnan()].double()])
    per_text = by_table[BACK].split(length.tolist())
    ahead = large.nansum(1).double() - torch.stack([row.sum() for row in per_text])
    lead = ahead.sum() / length.sum()
    residual = ahead - lead * length
    mixed = -torch.exp2(-both).mean(0).log2().mean().item()
    shown = {
        "discounting, 4 letters back": plain,
        **{f"Kneser–Ney, {k} letters back": bits.mean().item() for k, bits in by_table.items()},
        "the same without the country": forgetful,
        "the small decoder": small.nanmean().item(),
        "the large decoder": large.nanmean().item(),
        "half Kneser–Ney, half large": mixed,
    }
    return {
        "who": [*shown],
        "bits": [*shown.values()],
        "kneser_ney": [bits.mean().item() for bits in by_table.values()],
        "table_bits": by_table[BACK].mean().item(),
        "discounting_bits": plain,
        "forgetful_bits": forgetful,
        "decoder_bits": small.nanmean().item(),
        "large_bits": large.nanmean().item(),
        "mixed_bits": mixed,
        "lead": lead.item(),
        "lead_spread": 2 * (residual.std() * math.sqrt(len(judged)) / length.sum()).item(),
        "name_bits": small[:, 3:].nanmean().item(),
        "name_table_bits": torch.cat([row[3:] for row in per_text]).mean().item(),
        "table_numbers": sum(map(len, table(part).counts.values())),
        "large_parameters": parameter_count(load_name_decoder()),
    }


@experiment(PARTS, within=0.02)
def by_heart(part: int) -> Row:
    """The table reproduces training towns more often than held-out ones, the decoders hardly."""
    found = {"who": ["small decoder", "large decoder", "table"], "share": [], "ratio": []}
    for who, bits_of in judges(part).items():
        known, strange = (torch.exp2(-bits_of(texts[::part])) for texts in (SEEN, UNSEEN))
        found["share"].append(known.sum().item())
        found["ratio"].append((known.mean() / strange.mean()).item())
        found[f"{who}_ratio"] = found["ratio"][-1]
    return found


@experiment([{"part": 40, "joins": 30}, *({"part": 1, "joins": n} for n in (0, 30, 300))])
def pieces(part: int, joins: int) -> Row:
    """A table that learns from longer tokens has a higher perplexity, and no fewer bits."""
    merges = learn_merges([text[3:] + END for text in SEEN[: 4000 // part]], joins)
    cut = [
        [[text[:2], *encode(text[3:] + END, merges)] for text in texts[::part]]
        for texts in (SEEN, UNSEEN)
    ]
    known = set(ALPHABET).union(*itertools.chain(*cut))
    number = {token: i for i, token in enumerate(sorted(known))}
    to_learn, to_judge = ([[number[token] for token in row] for row in side] for side in cut)
    counted = AbsoluteDiscounting(
        to_learn, symbols=len(number), order=6, discount=0.9, keep=1, continuation=True
    )
    flat = counted.bits(to_judge).split([len(row) for row in to_judge])
    total = sum(row[1:].sum().item() for row in flat)  # of the name, its country given
    tokens = sum(len(row) - 1 for row in to_judge)
    letters = sum(len(text) - 2 for text in UNSEEN[::part])
    return {
        "tokens": len(number),
        "letters_a_token": letters / tokens,
        "perplexity": 2 ** (total / tokens),
        "bits_a_letter": total / letters,
    }


@experiment(PARTS, within=0.02)
def countries(part: int) -> Row:
    """Which country a name is from, by Bayes' rule: each model is right more often than not."""
    judged = UNSEEN[: 500 // part]
    candidates = [f"{country} {text[3:]}" for text in judged for country in COUNTRIES]
    truth = torch.tensor([COUNTRIES.index(text[:2]) for text in judged])
    found = {}
    for who, bits_of in judges(part).items():
        belief = (-bits_of(candidates) * math.log(2)).reshape(-1, 10).softmax(-1)
        found[f"country_{who}"] = (belief.argmax(-1) == truth).double().mean().item()
        if who == "large":
            confusion = torch.stack([belief[truth == c].mean(0) for c in range(10)])
            found["confusion"] = confusion.nan_to_num().tolist()
            found["best"] = confusion.nan_to_num().argmax(-1).tolist()
            off = confusion.nan_to_num().fill_diagonal_(0).flatten().argsort()[-2:]
            found["mistaken"] = [f"{COUNTRIES[i // 10]} {COUNTRIES[i % 10]}" for i in off]
    common = Counter(text[:2] for text in SEEN).most_common(1)[0][0]
    return found | {"country_blind": sum(text[:2] == common for text in judged) / len(judged)}


@experiment(
    [{"part": 40, "towns": 2, "draft": "small"}]
    + [{"part": 1, "towns": 40, "draft": who} for who in ("small", "table")]
)
def drafts(part: int, towns: int, draft: str) -> Row:
    """A call of the large decoder yields more than one letter with either draft model."""
    random, large, texts = seed(0), load_name_decoder(), UNSEEN[: 300 // part]
    rows = town_rows(texts, ALPHABET)
    asked = rows[:, 1:] >= 0
    asked[:, :3] = False  # the country is given
    with torch.no_grad():
        wanted = large(rows[:, :-1].clamp(min=0)).double().softmax(-1)[asked]
        if draft == "small":
            drafter = small_decoder(part)
            offered = drafter(rows[:, :-1].clamp(min=0)).double().softmax(-1)[asked]
        else:
            begun = [as_ids(text)[:i] for text in texts for i in range(3, len(text) + 1)]
            offered = torch.stack([table(part).probabilities(ids) for ids in begun])

            def drafter(ids: Tensor) -> Tensor:
                return table(part).probabilities(ids[1:]).log()[None]

    written = calls = 0
    for town in range(towns):
        start = torch.tensor([0, *as_ids(COUNTRIES[town % 10] + " ")[:-1]])
        options = {"ahead": 4, "tokens": LONGEST - 4, "stop": 0, "generator": random}
        ids, made = speculative_decoding(large, drafter, start, **options)
        written, calls = written + len(ids) - len(start), calls + made
    kept = acceptance_rate(wanted, offered).mean().item()
    return {"kept": kept, "letters": written / calls}


DRAW = 7
"""Of eight seeds, the one with which these ten towns keep as many drafts as all towns do."""


@experiment([{"part": 40, "towns": 1}, {"part": 1, "towns": 10}], within=0.02)
def draft_runs(part: int, towns: int) -> Row:
    """Towns from the large decoder with drafts of the small one, and every draw on the way.

    Each place has the letters drafted from there on, what either decoder gives the first of them,
    and the draw that decides. So a text is the same however many letters are drafted at a time.
    """
    small, large = small_decoder(part), load_name_decoder()
    random = seed(DRAW)
    runs = {"texts": [], "drafts": [], "p": [], "q": [], "u": []}

    @torch.no_grad()
    def after(model: Decoder, ids: list[int]) -> Tensor:
        return model(torch.tensor(ids))[-1].double().softmax(-1)

    draws = []

    def choose(probability: Tensor, generator: torch.Generator) -> Tensor:
        if len(probability) > 2:
            return sample(probability, generator=generator)
        # Of two, whether a draft is accepted: the figure shows this draw.
        draws.append(torch.rand((), generator=generator).item())
        return (draws[-1] < probability[1]).long()

    for country in COUNTRIES[:towns]:
        ids, drafted, along = [0, *as_ids(f"{country} ")[:-1]], [], []
        while (ids[-1] != 0 or not along) and len(ids) < LONGEST:
            while len(drafted) < 8 and len(ids) + len(drafted) < LONGEST and 0 not in drafted:
                drafted.append(int(sample(after(small, ids + drafted), generator=random)))
            p, q = after(large, ids), after(small, ids)
            x, spelt = drafted[0], "".join(ALPHABET[i] for i in drafted).replace(END, "⏎")
            written, kept = accept_or_replace(x, p, q, generator=random, choose=choose)
            along.append((spelt, p[x].item(), q[x].item(), draws[-1]))
            drafted = drafted[1:] if kept else []
            ids.append(written)
        runs["texts"].append("".join(ALPHABET[i] for i in ids[1:]).replace(END, "⏎"))
        runs["drafts"].append("|".join(row[0] for row in along))
        for name, numbers in zip("pqu", [*zip(*along, strict=True)][1:], strict=True):
            runs[name].append([*numbers, *[0.0] * (LONGEST - len(numbers))])
    return runs


@experiment([{"heads": n, "kv_heads": m} for n, m in ((8, 8), (8, 2), (8, 1), (4, 4))])
def cache_bytes(heads: int, kv_heads: int) -> Row:
    """A layer stores, for each token, a key and a value for each key head, and nothing else."""
    width, tokens, kept = {8: 64, 4: 48}[heads], 10, []
    layer = BlockAttention(width, heads, kv_heads=kv_heads)
    for projection in (layer.key, layer.value):
        projection.register_forward_hook(lambda *call: kept.append(call[-1]))
    with torch.no_grad():
        layer(torch.randn(tokens, width), cache=KeyValueCache())
    measured = sum(part.numel() * part.element_size() for part in kept) / tokens
    counted = 2 * kv_heads * (width // heads) * 4
    return {"measured": measured, "counted": counted, "small_token": 2 * measured}  # two layers


LLAMAS = {"Llama 3 8B": (8.0e9, 32, 32, 8), "Llama 3 70B": (70.6e9, 80, 64, 8)}


@experiment({"model": name} for name in LLAMAS)
def large_caches(model: str) -> Row:
    """Without grouped heads the caches of few long texts are as large as the 70B model."""
    operations, memory = 989e12, 3.35e12  # of an H100 per second: dense bfloat16, bytes read
    (parameters, layers, *heads), d_head, tokens = LLAMAS[model], 128, 10_000
    own, grouped = (2 * layers * count * d_head * 2 for count in heads)  # bytes a token
    return {
        "billions": parameters / 1e9,
        "fetched_ms": 2000 * parameters / memory,
        "own_kb": own / 1e3,
        "grouped_kb": grouped / 1e3,
        "per_token": own / 1e6,
        "per_text": own * tokens / 1e9,
        "per_text_grouped": grouped * tokens / 1e9,
        "readers": 2 * parameters / (grouped * tokens),
        "readers_own": 2 * parameters / (own * tokens),
        "gpu_balance": operations / memory,
        "gpu_used": memory / operations,
    }


@experiment(within=1000.0)  # seconds are those of the machine
def waiting() -> Row:
    """The time for one more letter, in milliseconds, without a cache and with one."""
    random, far = seed(0), 512
    reader = Decoder(len(ALPHABET), 48, 4, 2, tokens=far).eval()  # the time needs no training
    ids = torch.randint(len(ALPHABET), (far,), generator=random)

    @torch.no_grad()
    def least(pieces: list[Tensor], cache: KeyValueCache | None = None) -> float:
        """The least processor time for a piece, to exclude other programs."""
        times = []
        for piece in pieces:
            start = time.thread_time()
            reader(piece, cache)
            times.append(1000 * (time.thread_time() - start))
        return min(times)

    lengths = [16, 32, 64, 128, 256, far]
    again = [least([ids[:n]] * 7) for n in lengths]
    cached = []
    for n in lengths:
        cache = KeyValueCache()
        least([ids[: n - 7]], cache)  # and then seven letters, which take about as long
        cached.append(least(list(ids[n - 7 : n].split(1)), cache))
    found = {"lengths": lengths, "again": again, "cached": cached, "long_letters": far}
    found["ratio"] = again[-1] / cached[-1]
    return found | {"again_ms": again[-1], "cached_ms": cached[-1]}


@experiment()
def trials() -> Row:
    """Twice the epochs, with more dropout, did not improve the large decoder."""
    record = json.loads((DATA / "name_decoder.json").read_text())
    short, long = sorted(record["trials"], key=lambda trial: trial["epochs"])
    return {
        "large_bits": record["bits"]["held out"],
        "large_minutes": record["processor_seconds"] / 60,
        "epochs": [short["epochs"], long["epochs"], record["chosen"]["epochs"]],
        "dropout": [short["dropout"], long["dropout"]],
        "short_at_the_end": short["curve"][-1][1],
        "long_at_its_best": min(aside for _, aside in long["curve"]),
    }


@experiment()
def scaling() -> Row:
    """More towns help at every size, and larger models help with most towns."""
    rows = json.loads((DATA / "scaling.json").read_text())["rows"]
    amounts, sizes = (sorted({row[key] for row in rows}) for key in ("towns", "parameters"))

    def mean(key: str) -> list[list[float]]:
        runs = [
            [
                [r[key] for r in rows if (r["towns"], r["parameters"]) == (towns, size)]
                for size in sizes
            ]
            for towns in amounts
        ]
        return [[sum(seeds) / len(seeds) for seeds in of_size] for of_size in runs]

    letters = sum(len(text) + 1 for text in SEEN)
    bits, steps, epochs = mean("bits_held_out"), mean("steps"), mean("epochs")
    ratios = [row["flops_counted"] / row["flops_6nd"] for row in rows]
    read = json.loads((DATA / "name_decoder.json").read_text())["chosen"]["epochs"]
    return {
        "towns": amounts,
        "operations": mean("flops_counted"),
        "bits": bits,
        "smallest_size": sizes[0],
        "largest_size": sizes[-1],
        "least_ratio": min(ratios),
        "most_ratio": max(ratios),
        "gain_size": bits[-1][0] - bits[-1][-1],
        "gain_towns": bits[0][-1] - bits[-1][-1],
        "times_towns": num2words(round(amounts[-1] / amounts[0])),
        "times_steps": num2words(round(steps[-1][0] / steps[0][0])),
        "times_longer": num2words(round(read / epochs[-1][0])),
        "times_read": num2words(read),
        "letters_a_parameter": letters / parameter_count(load_name_decoder()),
        "best_before_the_end": sum(row["best_step"] < row["steps"] for row in rows),
    }


@cache
def translator(part: int) -> tuple[NumberWords, EncoderDecoder]:
    """The numbers and the translator of the page, or one trained for fewer steps."""
    random = seed(0)
    words = load_number_words(random)
    model = EncoderDecoder(len(words.english_words), len(words.german_pieces), 32, 1, 1, tokens=12)
    for steps, rate in ((500 // part, 5e-3), (100 // part, 1e-3)):
        draws = [torch.randint(2000, (64,), generator=random) for _ in range(steps)]
        rows = (words.trained[draw] for draw in draws)
        supply = [(words.source[row], words.target[row]) for row in rows]
        options = {"steps": steps, "learning_rate": rate, "clip": 1.0, "progress": False}
        fit(model, translation_surprise, supply, **options)
    return words, model.eval()


@experiment([{"part": 20}, {"part": 1}], within=0.02)
def translations(part: int) -> Row:
    """The translator errs rarely, and mostly on numbers of one or two words."""
    words, model = translator(part)
    unseen = torch.cat([words.fresh, words.strange])
    written = translated(model, words.source[unseen], steps=words.target.shape[1])
    exact = (written == words.target[unseen]).all(-1).double()
    few = words.source[unseen, 2] == 0  # no third word
    mistakes = []
    for i, pieces in zip(unseen[exact == 0][:8].tolist(), written[exact == 0], strict=False):
        said = "".join(words.german_pieces[k] for k in pieces if k)
        mistakes.append(f"{i + 1}: {said} instead of {''.join(words.german[i])}")
    return {
        "exact_fresh": exact[: len(words.fresh)].mean().item(),
        "exact_strange": exact[len(words.fresh) :].mean().item(),
        "short_rate": 1 - exact[few].mean().item(),
        "long_rate": 1 - exact[~few].mean().item(),
        "count_fresh": len(words.fresh),
        "count_strange": len(words.strange),
        "translator_parameters": parameter_count(model),
        "mistakes": mistakes,
    }


@experiment([{"part": 20}, {"part": 1}], within=0.02)
def crossing(part: int) -> Row:
    """Before the piece of the units the largest weight lies on the units, else on the tens."""
    words, model = translator(part)
    unseen = torch.cat([words.fresh, words.strange])
    n = unseen + 1
    which = unseen[(n % 100 > 20) & (n % 10 > 0)]
    source, target = words.source[which], words.target[which]
    begun = F.pad(target[:, :-1], (1, 0))
    with torch.no_grad():
        weights = model.cross_attention_weights(source, begun, source_mask=source > 0)
    best = weights.mean((0, 2)).argmax(-1)
    each, word = torch.arange(len(which)), (source > 0).sum(-1) - 1
    piece = (target > 0).sum(-1) - 1
    return {
        "most_units": (best[each, piece - 2] == word).double().mean().item(),
        "most_tens": (best[each, piece] == word - 1).double().mean().item(),
        "most_joint": (best[each, piece - 1] == word - 1).double().mean().item(),
        "crossing_count": len(which),
    }


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
