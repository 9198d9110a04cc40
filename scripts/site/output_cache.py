"""The book's cache of outputs: which of them still hold, and how new ones come in.

The cache knows a notebook by its code alone. Beside the outputs of each stands the fingerprint of
all else that they depend on.
"""

from importlib.util import find_spec
from pathlib import Path

from depends_on import LIBRARY, fingerprint
from filelock import FileLock
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_cache.cache.main import JupyterCacheBase
from nbformat import NotebookNode

# Found and not imported: under pytest, whoever checks the library's types imports it first.
LIBRARY_ROOT = Path(find_spec(LIBRARY).origin).resolve().parent.parent


def depends_on(notebook: NotebookNode) -> str:
    """The fingerprint of all that the notebook's outputs depend on besides its code."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return fingerprint(LIBRARY_ROOT, cells)


def record_of(cache: JupyterCacheBase, notebook: NotebookNode) -> NbCacheRecord | None:
    """The cache's record of a notebook's outputs, if it has them."""
    try:
        return cache.match_cache_notebook(notebook)
    except KeyError:
        return None


def holds(record: NbCacheRecord, notebook: NotebookNode) -> bool:
    """Whether recorded outputs of a notebook are those of today."""
    return (record.data or {}).get("depends_on") == depends_on(notebook)


def keep(
    cache: JupyterCacheBase, notebook: NotebookNode, path: Path, *, seconds: float, before: str
) -> None:
    """Put a notebook's outputs into the cache; ``before`` is what they depended on as it began."""
    data = {"execution_seconds": seconds, "depends_on": before}
    bundle = CacheBundleIn(notebook, str(path), data=data)
    # jupyter_cache deletes what has come in while it lists what to keep.
    with FileLock(cache.path / "coming_in.lock"):
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
