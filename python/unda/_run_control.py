"""What stands around a run: one thread at a time, Ctrl-C that waits for the end of a chunk, the bar.

Not here: stepping (simulation.py).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from . import _core
from .errors import BusyError

__all__ = ["Alone", "Interruptible", "Progress", "alone"]


class Alone:
    """Lets one thread at a time in, as often as it likes; the others get a BusyError at once."""

    def __init__(self) -> None:
        self._lock, self._process = threading.RLock(), os.getpid()

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        if self._process == os.getpid():
            raise BusyError("another thread is using this simulation; give each thread its own")
        self._lock, self._process = threading.RLock(), os.getpid()  # who held it stayed behind at the fork
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()


_Method = TypeVar("_Method", bound=Callable[..., Any])


def alone(method: _Method) -> _Method:
    """Let one thread at a time into the methods of a simulation."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **options: Any) -> Any:
        with self._guard:
            return method(self, *args, **options)

    return cast(_Method, guarded)


class Interruptible:
    """Collects Ctrl-C in the main thread and raises it at the end, so that a chunk is finished before.

    A handler of the user's own stays in charge.
    """

    def __enter__(self) -> Callable[[], bool]:
        self._seen = False
        self._old: Any = None
        if threading.current_thread() is threading.main_thread():
            self._old = signal.getsignal(signal.SIGINT)
            if self._old is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._note)
        return lambda: self._seen

    def _note(self, *_: object) -> None:
        self._seen = True

    def __exit__(self, *exc: object) -> None:
        if self._old is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._old)
        if self._seen and exc[0] is None:
            raise KeyboardInterrupt


class Progress:
    """A bar with simulated time, rate and remaining time where someone looks, else a log line a minute."""

    def __init__(self, sim: Any, steps: int, wanted: bool | None) -> None:
        self._sim, self._steps, self._done = sim, steps, 0
        self._begin = self._said = time.monotonic()
        self._bar: Any = None
        if wanted or (wanted is None and steps > 0 and someone_looks()):
            self._bar = _bar(steps)

    def __enter__(self) -> Progress:
        return self

    def update(self, n: int) -> None:
        """Tell that n steps more are done."""
        self._done += n
        now = time.monotonic()
        sim = self._sim
        size, unit = sim._size()
        rate = self._done * size / max(now - self._begin, 1e-9) / 1e9
        if self._bar is not None:
            self._bar.set_postfix_str(f"t = {sim.t:.4g} s, {rate:.3g} G{unit}/s", refresh=False)
            self._bar.update(n)
        elif now - self._said > 60:
            self._said = now
            left = (self._steps - self._done) * (now - self._begin) / self._done
            _core.logger.info(
                "step %d of %d, t = %g s, %.3g G%s/s, %.0f s left",
                self._done, self._steps, sim.t, rate, unit, left,
            )  # fmt: skip

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _in_jupyter() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def someone_looks() -> bool:
    """Say whether this runs on a terminal or in a notebook."""
    return sys.stderr.isatty() or _in_jupyter()


def _bar(steps: int) -> Any:
    with warnings.catch_warnings():  # ipywidgets may be missing: then it is a bar of text
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm(total=steps, unit="step", leave=False)
