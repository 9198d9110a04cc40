"""Numbers that a lecture states and does not compute itself: scripts make them, lectures read them.

``scripts/evidence/NN_name.py`` holds experiments, functions that return numbers by name, and
``data/evidence/NN_name.json`` what they returned: a row for each case, with its seconds, and for
each experiment the date, the device, the versions and the command.
"""

import datetime as dt
import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).parents[1] / "data" / "evidence"
Row = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """A function, its cases, the smallest first, and how far results may differ."""

    function: Callable[..., Row]
    cases: tuple[Row, ...]
    within: float

    @property
    def name(self) -> str:
        """The name of the function, by which its rows are found."""
        return self.function.__name__

    def __call__(self, **case: Any) -> Row:
        """What the function returns."""
        return self.function(**case)


def experiment(
    cases: Iterable[Mapping[str, Any]] = ({},), *, within: float = 1e-3
) -> Callable[[Callable[..., Row]], Experiment]:
    """Make a function an experiment: called with each case, it returns numbers by name.

    The first case is the smallest, which a test computes again. ``within`` is the difference,
    relative or absolute, that another machine may make.
    """
    return lambda function: Experiment(function, tuple(dict(case) for case in cases), within)


def compute(script: str, experiments: Mapping[str, Any], names: Iterable[str] = ()) -> None:
    """Run the experiments of a script, or those of some names, and keep what they return.

    Call it as ``compute(__file__, globals(), sys.argv[1:])``. Rows of other experiments stay as
    they are. Raises ``ValueError`` for a name that is no experiment of the script.
    """
    torch.set_num_threads(1)
    found = {it.name: it for it in experiments.values() if isinstance(it, Experiment)}
    chosen = list(names) or list(found)
    if unknown := [name for name in chosen if name not in found]:
        raise ValueError(f"no experiment is called {unknown}; expected some of {list(found)}")
    path = FOLDER / f"{Path(script).stem}.json"
    kept = json.loads(path.read_text()) if path.exists() else {"about": {}, "rows": []}
    for name in chosen:
        rows = []
        for case in found[name].cases:
            begun = time.process_time()
            numbers = _rounded(found[name](**case))
            seconds = round(time.process_time() - begun, 1)
            rows.append({"experiment": name, **case, **numbers, "seconds": seconds})
            print(json.dumps(rows[-1]), flush=True)  # noqa: T201 - shows how far it is
        others = [row for row in kept["rows"] if row["experiment"] != name]
        kept["rows"] = sorted(others + rows, key=lambda row: [*found].index(row["experiment"]))
        kept["about"][name] = about(f"python scripts/evidence/{Path(script).name} {name}")
        kept["about"] = {name: kept["about"][name] for name in found if name in kept["about"]}
        write(path, **kept)


def write(path: Path, about: Mapping[str, Row], rows: Iterable[Row]) -> None:
    """Write the evidence of a lecture, a row a line."""
    heads = ",\n".join(f"{json.dumps(name)}: {json.dumps(head)}" for name, head in about.items())
    body = ",\n".join(json.dumps(row) for row in rows)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'{{"about": {{\n{heads}\n}},\n"rows": [\n{body}\n]}}\n')


def _rounded(found: Any) -> Any:
    """The result with its numbers rounded to six digits."""
    match found:
        case float():
            return float(f"{found:.6g}")
        case dict():
            return {name: _rounded(value) for name, value in found.items()}
        case list() | tuple():
            return [_rounded(value) for value in found]
        case _:
            return found


def about(command: str) -> Row:
    """The head of every results file: where, when, with what and by which command it was made."""
    return {
        "device": platform.machine(),
        "threads": torch.get_num_threads(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": command,
    }


class Evidence:
    """What was computed for a lecture: ``Evidence("04_recurrence").row("recall", seed=0)``.

    Raises ``ValueError`` if the lecture has none.
    """

    def __init__(self, lecture: str) -> None:
        path = FOLDER / f"{lecture}.json"
        if not path.exists():
            known = sorted(file.stem for file in FOLDER.glob("*.json"))
            raise ValueError(f"there is no evidence of {lecture!r}; expected one of {known}")
        self.lecture = lecture
        kept = json.loads(path.read_text())
        self.about: dict[str, Row] = kept["about"]
        self._rows: list[Row] = kept["rows"]

    def rows(self, experiment: str, **given: Any) -> list[Row]:
        """The rows of an experiment whose cases are as ``given``; at least one.

        Raises ``ValueError`` if there is none.
        """
        own = [row for row in self._rows if row["experiment"] == experiment]
        found = [row for row in own if all(row.get(key) == value for key, value in given.items())]
        if not found:
            tried = dict.fromkeys(row.get(key) for row in own for key in given)
            raise ValueError(
                f"no row of {experiment!r} has {given}; expected one of {list(tried or self.about)}"
            )
        return found

    def row(self, experiment: str, **given: Any) -> Row:
        """The only row of an experiment with this case.

        Raises ``ValueError`` if there is none, or more than one.
        """
        found = self.rows(experiment, **given)
        if len(found) > 1:
            raise ValueError(f"{len(found)} rows of {experiment!r} have {given}; name more of it")
        return found[0]

    @cached_property
    def facts(self) -> Row:
        """Every number by its name, of the last row that has it: of several cases, the largest."""
        return {name: number for row in self._rows for name, number in row.items()}

    def values(self, experiment: str, number: str, **given: Any) -> list[Any]:
        """One number of each of the rows, in the order of the cases."""
        return [row[number] for row in self.rows(experiment, **given)]
