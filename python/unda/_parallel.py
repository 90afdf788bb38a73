"""Threads for loops over parts of large arrays whose work releases the interpreter lock: NumPy, hashes.

Also the environment that tells other libraries how to use threads.

Not here: the library's own threads (csrc/base/parallel.h), sweeps over simulations (sweep.py).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import TypeVar

_Part = TypeVar("_Part")
_Made = TypeVar("_Made")
_MOST = 8  # more threads would wait for memory and for the interpreter lock


def ahead(work: Callable[[_Part], _Made], parts: Iterable[_Part]) -> Iterator[_Made]:
    """Yield work(part) of each part in their order, like `map`, while threads work a few parts ahead.

    The first part that fails in that order raises, whatever others do. Not for functions of users, which
    may not bear threads.
    """
    rest = iter(parts)
    begun = list(islice(rest, 2))
    threads = min(_MOST, len(os.sched_getaffinity(0)) // 2)  # the other cores are left to the library
    if len(begun) < 2 or threads <= 1:
        yield from map(work, chain(begun, rest))
        return
    rest = chain(begun, rest)
    waiting: deque[Future[_Made]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            waiting.extend(pool.submit(work, part) for part in islice(rest, 2 * threads))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(work, part) for part in islice(rest, 1))
        finally:
            for one in waiting:
                one.cancel()


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for libraries loaded and processes started meanwhile, then restore them."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
