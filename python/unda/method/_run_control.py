"""Control of a run: one thread at a time, Ctrl-C deferred to the end of a chunk, the progress bar.

Not here: stepping (simulation_run.py).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from .. import _core
from ..errors import BusyError


class Alone:
    """Lets one thread at a time in, as often as it likes; the others get a BusyError at once.

    A visit ends with ``with alone.visit():``, or with the object that made it, should the handler of a signal
    raise where it would be ended. No lock: that might be left locked just so.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._last: _Link = (_nobody, {})

    def visit(self) -> _Visit:
        """Return the context of one visit."""
        return _Visit(self)


class _Visit:
    _ended = False

    def __init__(self, alone: Alone) -> None:
        self._alone, self._thread = alone, threading.get_ident()

    def __enter__(self) -> None:
        alone = self._alone
        if alone._process != os.getpid():  # the thread that was inside does not exist after the fork
            alone._process, alone._last = os.getpid(), (_nobody, {})
        # Visits form a chain: each refers to the next one, and only one can become the next.
        mine: _Link = (weakref.ref(self), {})
        link = alone._last
        while link is not mine:
            other = link[0]()
            if other is not None and not other._ended:
                if other._thread == self._thread:
                    return
                raise BusyError("another thread is using this simulation; give each thread its own")
            link = link[1].setdefault("next", mine)
        alone._last = mine

    def __exit__(self, *exc: object) -> None:
        self._ended = True


_Link = tuple[Callable[[], "_Visit | None"], dict[str, Any]]


def _nobody() -> None:
    return None


_Method = TypeVar("_Method", bound=Callable[..., Any])


def alone(method: _Method) -> _Method:
    """Let one thread at a time into the methods of a simulation; where processes share it, all of them."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **options: Any) -> Any:
        with self._guard.visit():
            if self.ranks is None or method.__name__ == "close":  # it may end what one process has begun
                return method(self, *args, **options)
            return self.ranks.together(method.__name__, lambda: method(self, *args, **options))

    return cast(_Method, guarded)


class Interruptible:
    """Collects Ctrl-C in the main thread and raises it at the end, so that a chunk is finished before.

    A handler of the user's own stays in charge. Where the handler of another signal raises so that the end is
    not reached, Ctrl-C is what it was all the same: who collects it looks whether its run is still going on.
    """

    def __enter__(self) -> Callable[[], bool]:
        self._seen = False
        self._frame: Any = None  # where the run goes on that this belongs to
        if threading.current_thread() is threading.main_thread():
            here, old = sys._getframe(1), signal.getsignal(signal.SIGINT)
            left = isinstance(old, Interruptible) and not old._goes_on(here)
            if old is signal.default_int_handler or left:
                self._frame = here
                signal.signal(signal.SIGINT, self)
        return lambda: self._seen

    def _goes_on(self, frame: Any) -> bool:
        """Return whether the run is among the callers of a frame."""
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is not None

    def __call__(self, _: int, frame: Any) -> None:
        """Handle the signal."""
        if self._goes_on(frame):
            self._seen = True
            return
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt

    def __exit__(self, *exc: object) -> None:
        if self._frame is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._frame = None
        if self._seen and exc[0] is None:
            raise KeyboardInterrupt


class Cases:
    """A progress bar with rate and remaining time on a terminal or in a notebook, else a line a minute."""

    _unit = "case"

    def __init__(self, num: int, wanted: bool | None) -> None:
        self._num, self._done = num, 0
        self._begin = self._said = time.monotonic()
        self._bar: Any = None
        if wanted or (wanted is None and num > 0 and someone_looks()):
            self._show(lambda: setattr(self, "_bar", _bar(num, self._unit)))

    def _show(self, draw: Callable[[], Any]) -> None:
        """Draw; if that fails (a closed stderr, a broken pipe) continue with lines in the log."""
        try:
            draw()
        except (AttributeError, OSError, ValueError) as error:
            _core.logger.info("no progress bar: %s", error)
            if self._bar is not None:
                self._bar.disable = True  # otherwise it draws once more when it is deleted
            self._bar = None

    def __enter__(self) -> Any:
        return self

    def _about(self, seconds: float) -> str:
        """Return what is shown besides, after so many seconds."""
        return ""

    def update(self, n: int) -> None:
        """Report that n more are done."""
        self._done += n
        now = time.monotonic()
        about = self._about(max(now - self._begin, 1e-9))
        if self._bar is not None:
            self._bar.set_postfix_str(about, refresh=False)
            self._show(lambda: self._bar.update(n))
        elif now - self._said > 60:
            self._said = now
            left = (self._num - self._done) * (now - self._begin) / self._done
            told = [f"{self._unit} {self._done} of {self._num}", about, f"{left:.0f} s left"]
            _core.logger.info("%s", ", ".join(part for part in told if part))

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._show(self._bar.close)


class Progress(Cases):
    """The same for the steps of a run, with simulated time and rate."""

    _unit = "step"

    def __init__(self, sim: Any, steps: int, wanted: bool | None) -> None:
        super().__init__(steps, wanted)
        self._sim = sim

    def _about(self, seconds: float) -> str:
        size, unit = self._sim._size()
        return f"t = {self._sim.t:.4g} s, {self._done * size / seconds / 1e9:.3g} G{unit}/s"


def _in_jupyter() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def someone_looks() -> bool:
    """Return whether this runs on a terminal or in a notebook."""
    try:
        return _in_jupyter() or sys.stderr.isatty()
    except Exception:  # no stream, a closed one, or one without isatty
        return False


def _bar(num: int, unit: str) -> Any:
    with warnings.catch_warnings():  # without ipywidgets it is a text bar
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm(total=num, unit=unit, leave=False)
