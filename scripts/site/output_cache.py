"""The book's cache of outputs: check which are valid, and add new ones.

The key of the cache is a notebook's code alone. With the outputs it stores the fingerprint of all
else that they depend on.
"""

from importlib.util import find_spec
from pathlib import Path

from depends_on import LIBRARY, fingerprint
from filelock import FileLock
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_cache.cache.main import JupyterCacheBase
from nbformat import NotebookNode

# Located but not imported: under pytest, the type checker of the library must import it first.
LIBRARY_ROOT = Path(find_spec(LIBRARY).origin).resolve().parent.parent


def depends_on(notebook: NotebookNode) -> str:
    """The fingerprint of all that the notebook's outputs depend on besides its code."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return fingerprint(LIBRARY_ROOT, cells)


def record_of(cache: JupyterCacheBase, notebook: NotebookNode) -> NbCacheRecord | None:
    """The cache's record of a notebook, if it has one."""
    try:
        return cache.match_cache_notebook(notebook)
    except KeyError:
        return None


def holds(record: NbCacheRecord, notebook: NotebookNode) -> bool:
    """Whether recorded outputs of a notebook are up to date."""
    return (record.data or {}).get("depends_on") == depends_on(notebook)


def keep(
    cache: JupyterCacheBase, notebook: NotebookNode, path: Path, *, seconds: float, before: str
) -> None:
    """Put a notebook's outputs into the cache; ``before`` is its fingerprint at the start."""
    data = {"execution_seconds": seconds, "depends_on": before}
    bundle = CacheBundleIn(notebook, str(path), data=data)
    # jupyter_cache deletes entries that another process adds while it lists those to keep.
    with FileLock(cache.path / "coming_in.lock"):
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
