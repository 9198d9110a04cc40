"""Make the outputs of the lectures, in parallel, and drop those that are out of date.

Jupyter Book takes outputs from its cache, whose key is a notebook's code alone, and executes
missing ones one after another. Before Sphinx reads a page, outputs with an outdated fingerprint are
deleted from the cache, and missing ones are executed, ``JOBS`` notebooks at a time (an environment
variable, 2 by default). A notebook that fails is left to Jupyter Book, which runs it alone and
reports the error.
"""

import asyncio
import os
import time
from datetime import UTC
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.cache.db import NbCacheRecord
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from output_cache import depends_on, holds, keep, record_of
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def jobs() -> int:
    """How many lectures run at a time."""
    given = os.environ.get("JOBS", str(min(2, os.cpu_count() or 1)))
    if not given.isdecimal() or int(given) < 1:
        raise ExtensionError(f"JOBS is {given!r}; give the number of lectures to run at a time")
    return int(given)


def notebook_of(env: BuildEnvironment, docname: str) -> NotebookNode | None:
    """The notebook behind a page, as Jupyter Book reads it; None if the page is plain prose."""
    path = Path(env.doc2path(docname))
    text = path.read_text(encoding="utf-8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    return reader and reader.read(text)


def is_ours(config: NbParserConfig) -> bool:
    """Whether Jupyter Book caches outputs and runs notebooks in their folder."""
    return config.execution_mode == "cache" and not config.execution_in_temp


def without_outputs(
    _app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """The pages to read again: the cache lacks valid outputs for them, or has new ones."""
    if not is_ours(env.mystnb_config):
        return []
    cache = get_cache(env.mystnb_config.execution_cache_path)
    found = []
    for docname in sorted(env.found_docs - removed):
        notebook = notebook_of(env, docname)
        if notebook is None:
            continue
        record = record_of(cache, notebook)
        if record is not None and not holds(record, notebook):
            cache.remove_cache(record.pk)
            record = None
        if record is None or is_new(record, env.all_docs.get(docname, 0)):
            found.append(docname)
    return found


def is_new(record: NbCacheRecord, read: int) -> bool:
    """Whether outputs came after a page was ``read``, in microseconds since 1970."""
    return record.created.replace(tzinfo=UTC).timestamp() > read / 1e6


def make_outputs(_app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute the notebooks among the pages to be read whose outputs the cache does not have."""
    if not is_ours(env.mystnb_config):
        return
    cache = get_cache(env.mystnb_config.execution_cache_path)
    missing = {}
    for docname in docnames:
        notebook = notebook_of(env, docname)
        if notebook is not None and record_of(cache, notebook) is None:
            missing[docname] = notebook

    async def make_all() -> None:
        gate = asyncio.Semaphore(jobs())
        await asyncio.gather(*(make(docname, gate) for docname in missing))

    async def make(docname: str, gate: asyncio.Semaphore) -> None:
        notebook, path = missing[docname], Path(env.doc2path(docname))
        async with gate:
            before = depends_on(notebook)
            start = time.perf_counter()
            try:
                await execute(notebook, path.parent, env.mystnb_config)
            except (CellExecutionError, CellTimeoutError) as error:
                LOGGER.warning(
                    "%s failed; it runs again, alone", type(error).__name__, location=docname
                )
                return
            except DeadKernelError as error:
                raise ExtensionError(
                    f"the kernel of {docname} died; if memory is short, run one lecture at a time "
                    "(JOBS=1)"
                ) from error
            seconds = time.perf_counter() - start
        LOGGER.info("ran %s in %.0f s", docname, seconds)
        keep(cache, notebook, path, seconds=seconds, before=before)

    asyncio.run(make_all())


async def execute(notebook: NotebookNode, folder: Path, config: NbParserConfig) -> None:
    """Run a notebook as Jupyter Book does: in its own folder, up to the first error."""
    await NotebookClient(
        notebook,
        timeout=config.execution_timeout,
        allow_errors=config.execution_allow_errors,
        record_timing=False,  # the times would be in the cells, and so in the key of the cache
        resources={"metadata": {"path": str(folder)}},
    ).async_execute()


def one_thread_each(_app: Sphinx) -> None:
    """Use one thread in every kernel, so that no number depends on the machine's cores."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", one_thread_each)
    app.connect("env-get-outdated", without_outputs)
    app.connect("env-before-read-docs", make_outputs)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
