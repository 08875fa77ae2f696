"""All files of a scan, read in this process or in several. The answer is the same."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase
from d9m.scan.cache import Cache
from d9m.scan.file_kinds import Kind
from d9m.scan.read_file import FileRead, load, read_file
from d9m.scan.vocabulary import Vocabulary
from d9m.scan.walk import Walk

CHUNK = 40
"""Files that a worker gets at once."""

FEWEST = 200
"""Files for which starting workers pays."""

_Item = tuple[str, Kind]


def read_files(
    kb: KnowledgeBase,
    walk: Walk,
    jobs: int | None = None,
    cache: Cache | None = None,
    digests: Mapping[str, str] | None = None,
) -> list[FileRead]:
    """Return the facts of every file of a walk, in its order; a cache has those whose digests are
    unchanged. `jobs`: how many processes; None: one for each processor that this process may use.
    """
    if cache is None or digests is None:
        return list(_read_all(kb, walk.root, walk.files, jobs))
    found: dict[str, FileRead] = {}
    todo: list[_Item] = []
    for path, kind in walk.files:
        read = cache.get(path, digests[path]) if path in digests else None
        if read is None:
            todo.append((path, kind))
        else:
            found[path] = read
    for read in _read_all(kb, walk.root, todo, jobs):
        path = read.facts.path
        found[path] = read
        if path in digests:
            cache.put(path, digests[path], read)
    cache.save()
    return [found[path] for path, _kind in walk.files]


def _read_all(
    kb: KnowledgeBase, root: str, items: Sequence[_Item], jobs: int | None
) -> Iterator[FileRead]:
    processes = jobs or _processors()
    if processes == 1 or (jobs is None and len(items) < FEWEST):
        yield from read_chunk(Vocabulary(kb), root, items)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    chunks = [items[at : at + CHUNK] for at in range(0, len(items), CHUNK)]
    start = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    count = min(processes, len(chunks) or 1)
    with ProcessPoolExecutor(count, start, initializer=_begin, initargs=(root,)) as pool:
        for chunk in pool.map(_work, chunks):
            yield from chunk


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def read_chunk(vocabulary: Vocabulary, root: str, items: Sequence[_Item]) -> list[FileRead]:
    """Read some files. The collector rests while one is read, and takes the trees away after every
    few: it never looks at what was there before, nor at what is kept.
    """
    collecting = gc.isenabled()
    gc.disable()
    gc.freeze()
    found: list[FileRead] = []
    try:
        for number, (path, kind) in enumerate(items, start=1):
            found.append(_read_one(vocabulary, root, path, kind))
            if number % CHUNK == 0:
                gc.collect()
                gc.freeze()
    finally:
        gc.unfreeze()
        if collecting:
            gc.enable()
    return found


def _read_one(vocabulary: Vocabulary, root: str, path: str, kind: Kind) -> FileRead:
    data = load(root, path, kind)
    return read_file(vocabulary, path, kind, data) if isinstance(data, bytes) else FileRead(data)


class _Worker:
    """The state that a worker process keeps between chunks."""

    root: str
    vocabulary: Vocabulary


def _begin(root: str) -> None:
    _Worker.root = root
    _Worker.vocabulary = Vocabulary(open_knowledge_base())


def _work(items: Sequence[_Item]) -> list[FileRead]:
    return read_chunk(_Worker.vocabulary, _Worker.root, items)
