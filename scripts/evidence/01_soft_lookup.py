"""Evidence of lecture 1 beyond its page: longer training, other models, new handwriting."""

import sys
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import attention, attention_weights
from course_lib.models.party import Party, load_party
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, seed


@cache
def party() -> Party:
    """The pictures, split as in the lecture."""
    return load_party(torch.Generator().manual_seed(0))


def some(people: Tensor, tables: int, random: torch.Generator) -> Tensor:
    """Five random guests at each table."""
    return people[torch.randint(len(people), (tables, 5), generator=random)]


SCORERS = ("gate", "softmax", "normalised gates")


@experiment(
    [{"scorer": "softmax", "steps": 60}, {"scorer": "softmax", "steps": 1800}]
    + [{"scorer": scorer, "steps": 600} for scorer in SCORERS]
)
def most_ink(scorer: str, steps: int) -> Row:
    """Softmax weighs the guest with most ink more than gates; all three rank this guest first."""
    random, (picture, _, guests, train, validation, _) = seed(0), party()
    inks = picture.sum(1)
    ink = ((inks - inks[train].mean()) / inks[train].std())[:, None]

    def darkest_first(people: Tensor, tables: int) -> Tensor:
        return ink[some(people, tables, random)].sort(1, descending=True).values

    def weights(model: nn.Module, tables: Tensor) -> Tensor:
        score = model(tables)[..., 0]
        if scorer == "softmax":
            return score.softmax(-1)
        return score.sigmoid() if scorer == "gate" else F.logsigmoid(score).softmax(-1)

    def surprise(model: nn.Module, tables: Tensor) -> Tensor:
        found = weights(model, tables)
        if scorer == "gate":
            return F.binary_cross_entropy(found, torch.eye(5)[0].expand(len(found), 5))
        return -found[:, 0].log().mean()

    parties, model = [darkest_first(train, 128) for _ in range(64)], nn.Linear(1, 1)
    fit(model, surprise, parties, steps=steps, learning_rate=0.1, progress=False)
    with torch.no_grad():
        found, score = weights(model, darkest_first(validation, 4000)), model(ink[guests])[:, 0]
        of_guests = weights(model, ink[guests])
    total, alone = found.sum(1), found > 0.5
    who = {"normalised gates": "normalised"}.get(scorer, "longer" if steps > 600 else scorer)
    return {
        f"{who}_share": (found[:, 0] / total).mean().item(),
        f"{who}_alone": (alone[:, 0] & (alone.sum(1) == 1)).float().mean().item(),
        f"{who}_least": total.quantile(0.05).item(),
        f"{who}_most": total.quantile(0.95).item(),
        "first": (found.argmax(1) == 0).float().mean().item(),
        "guests": of_guests.tolist(),
        "score": score.tolist(),
    }


DIGITS = [[digit] for digit in range(10)] + [[0, 2, 4, 6, 8], [2, 3, 5, 7], [0, 6, 8, 9]]
FITS = torch.tensor([[digit in who for digit in range(10)] for who in DIGITS])


class OnlyQueries(nn.Module):
    """Keys are the 64 pixels of the guests; only the queries are learned."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Embedding(len(FITS), 64)

    def forward(self, question: Tensor, pictures: Tensor) -> Tensor:
        """The weights of the guests."""
        return attention_weights(self.query(question)[:, None], pictures, scale=1)[:, 0]


class NothingButTemperature(nn.Module):
    """Weights from the distances to the ten class means; only a temperature is learned."""

    def __init__(self) -> None:
        super().__init__()
        picture, label, _, train, *_ = party()
        means = [picture[train][label[train] == digit].mean(0) for digit in range(10)]
        self.average = torch.stack(means)
        self.log = nn.Parameter(torch.zeros(()))

    def forward(self, question: Tensor, pictures: Tensor) -> Tensor:
        """The weights of the guests."""
        distance = torch.cdist(pictures, self.average).square()
        digit = (-distance / self.log.exp()).log_softmax(-1)
        unfit = ~FITS[question][:, None]
        return digit.masked_fill(unfit, -1e9).logsumexp(-1).softmax(-1)


RIVALS = {"pixels": OnlyQueries, "averages": NothingButTemperature}


@experiment(
    [{"rival": "averages", "steps": 60}] + [{"rival": name, "steps": 600} for name in RIVALS]
)
def hosts(rival: str, steps: int) -> Row:
    """Learning only queries, or only a temperature, is as accurate as the full host."""
    random, (picture, label, _, train, validation, _) = seed(0), party()

    def asked(people: Tensor, tables: int) -> tuple[Tensor, Tensor, Tensor]:
        five = some(people, tables, random)
        answerable = FITS[:, label[five]].any(-1).T.float()
        question = torch.multinomial(answerable, 1, generator=random)[:, 0]
        return question, picture[five], FITS[question[:, None], label[five]]

    def surprise(model: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        question, pictures, right = batch
        return -(model(question, pictures) * right).sum(-1).log().mean()

    evenings, model = [asked(train, 128) for _ in range(100)], RIVALS[rival]()
    fit(model, surprise, evenings, steps=steps, learning_rate=0.05, progress=False)
    question, pictures, right = asked(validation, 4000)
    with torch.no_grad():
        first = model(question, pictures).argmax(-1, keepdim=True)
    return {"first": right.gather(1, first).float().mean().item()}


@experiment(
    [{"start": 0, "steps": 10}]
    + [
        {"start": start, "steps": steps}
        for start, steps in ((0, 240), (1, 240), (2, 240), (0, 720))
    ],
    within=0.01,
)
def maps(start: int, steps: int) -> Row:
    """Learned maps improve the dot product, which stays behind the distance."""
    picture, label, _, train, _, test = party()
    picture = picture.double()
    key, answer = picture[train], label[train]
    value = F.one_hot(answer, 10).double()
    others = ~torch.eye(len(train), dtype=torch.bool)  # True where a query may look

    class Maps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Linear(64, 16, bias=False, dtype=torch.float64)
            self.key = nn.Linear(64, 16, bias=False, dtype=torch.float64)

        def forward(self, query: Tensor, mask: Tensor | None = None) -> Tensor:
            return attention(self.query(query), self.key(key), value, mask=mask)

    def leave_one_out(model: Maps, rows: Tensor) -> Tensor:
        probability = model(key[rows], mask=others[rows])
        return F.nll_loss(probability.clamp_min(1e-300).log(), answer[rows])

    seed(start)
    model, batches = Maps(), torch.arange(len(train)).split(250)
    fit(model, leave_one_out, batches, steps=steps, learning_rate=0.01, progress=False)
    with torch.no_grad():
        found = model(picture[test])
    right = (found.argmax(-1) == label[test]).double().mean().item()
    return {"right": right, "log_loss": F.nll_loss(found.log(), label[test]).item()}


@experiment()
def hands() -> Row:
    """On new handwriting the nearest neighbour errs more, and a higher temperature helps more."""
    picture, label, *_ = party()
    old, fresh = picture[:1000].double(), picture[-400:].double()
    old_label, fresh_label = label[:1000], label[-400:]
    value = F.one_hot(old_label, 10).double()
    apart = (torch.arange(1000)[:, None] - torch.arange(1000)).abs()

    def best(query: Tensor, truth: Tensor, mask: Tensor | None = None) -> float:
        """The temperature, in steps of 0.05, at which the lookup among the first 1,000 is best."""
        choices = [round(0.05 * step, 2) for step in range(3, 15)]
        losses = []
        for tau in choices:
            score = {"scale": 1, "bias": -old.square().sum(-1)[None] / tau, "mask": mask}
            found = attention(2 / tau * query, old, value, **score)
            losses.append(F.nll_loss(found.clamp_min(1e-300).log(), truth).item())
        return choices[losses.index(min(losses))]

    nearest = torch.cdist(fresh, old).argmin(-1)
    return {
        "hands_nearest": (old_label[nearest] == fresh_label).double().mean().item(),
        "hands_self": best(old, old_label, apart > 0),
        "hands_band": best(old, old_label, apart > 100),
        "hands_fresh": best(fresh, fresh_label),
    }


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
