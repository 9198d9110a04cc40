"""Fetch lit-html from the npm registry into ``course_lib/widgets/vendor``.

``python scripts/tools/vendor_lit_html.py 3.3.3`` packs that version with npm, which checks it
against the registry's hash, and keeps the files that the widgets use, their licence and a line that
names the version. The pages contain these files; building the book needs no npm.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[2] / "course_lib/widgets/vendor/lit-html"
MODULES = ("lit-html.js", "directive.js", "directives/guard.js")
TYPES = 'export * from "lit-html{}";\n'


def vendor(version: str) -> None:
    """Replace the vendored files by those of ``version``."""
    with tempfile.TemporaryDirectory() as folder:
        pack = ["npm", "pack", f"lit-html@{version}", "--silent", "--pack-destination", folder]
        subprocess.run(pack, check=True)  # noqa: S603 - the version is the maintainer's own word
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as package:
            package.extractall(folder, filter="data")
        for name in MODULES:
            (VENDOR / name).parent.mkdir(parents=True, exist_ok=True)
            text = (Path(folder) / "package" / name).read_text(encoding="utf-8")
            code = [
                line
                for line in text.splitlines()
                if line.strip() and not line.startswith(("/**", " * ", "//"))
            ]
            banner = f"/*! lit-html {version} {name} | Copyright 2017 Google LLC | BSD-3-Clause */"
            written = "\n".join([banner, *(line.removeprefix(" */") for line in code), ""])
            (VENDOR / name).write_text(written, encoding="utf-8")
            # tsc reads the types from the package itself, a development dependency.
            types = "" if name == MODULES[0] else f"/{name}"
            (VENDOR / name).with_suffix(".d.ts").write_text(TYPES.format(types), encoding="utf-8")
        licence = (Path(folder) / "package" / "LICENSE").read_text(encoding="utf-8")
        (VENDOR / "LICENSE").write_text(licence, encoding="utf-8")


if __name__ == "__main__":
    vendor(*sys.argv[1:])
