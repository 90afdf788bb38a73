"""The exceptions and warnings of unda, and the exception of each status of the C library.

Every exception is an `unda.Error`. Exceptions with a built-in counterpart are derived from it as
well, so ``except ValueError`` catches a wrong argument. Not here: the raising (``_core.check``).
"""

from __future__ import annotations

import os
import sys
import warnings


class Error(Exception):
    """Base of everything that unda raises on purpose.

    Examples
    --------
    >>> import unda
    >>> try:
    ...     unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(0, 1, 1))
    ... except unda.Error as error:
    ...     print(type(error).__name__)
    ArgumentError
    """


class ArgumentError(Error, ValueError):
    """An argument has the wrong type, shape or value: the caller's mistake.

    Attributes
    ----------
    place : str or None
        Where the C library detected it ("dg/tables.c:116"); also a note of the exception.
    """

    place: str | None = None


class MeshError(Error, ValueError):
    """A mesh or a mesh file is not valid; the message names the count and the first ids."""


class UnstableError(Error):
    """The solution is no longer finite.

    Parameters
    ----------
    message : str
        What happened.
    **facts
        Values for the attributes below.

    Attributes
    ----------
    step, last_good_step : int or None
        Steps done when it was detected, and when the state was last known to be finite.
    time : float or None
        Simulated time [s] of `step`.
    element, node : int or None
        The first element that is not finite, in the user's numbering, and a node in it.
    field : str or None
        A field that is not finite there.
    coordinates : tuple of float or None
        Centroid of that element [m].
    material : dict or None
        Material of that element by property name (SI units).
    local_cfl : float or None
        Time step divided by the stable time step of that element.

    Examples
    --------
    >>> UnstableError("blew up", step=12, time=0.5).step
    12
    """

    _facts = (
        "step",
        "last_good_step",
        "time",
        "element",
        "node",
        "field",
        "coordinates",
        "material",
        "local_cfl",
    )

    def __init__(self, message: str = "", **facts: object) -> None:
        super().__init__(message)
        unknown = sorted(set(facts) - set(self._facts))
        if unknown:
            raise TypeError(f"unknown facts {unknown}; expected some of {list(self._facts)}")
        for name in self._facts:
            setattr(self, name, facts.get(name))


class OutOfMemoryError(Error, MemoryError):
    """Host or device memory does not suffice; what was allocated has been freed, and a smaller run works."""


class DeviceError(Error):
    """No usable CUDA device, or a CUDA call failed."""


class DeviceLostError(DeviceError):
    """The CUDA device is permanently lost to this process; start a new one."""


class CompileError(DeviceError):
    """A kernel did not compile.

    Attributes
    ----------
    log : str
        Output of the compiler.
    """

    def __init__(self, message: str = "", log: str = "") -> None:
        super().__init__(message)
        self.log = log


class ForkError(Error, RuntimeError):
    """The process was forked after an engine ran; use spawn or threads."""


class BusyError(Error, RuntimeError):
    """Another thread is using this object."""


class FileError(Error, OSError):
    """The C library could not read or write a file."""


class InternalError(Error, RuntimeError):
    """An internal check failed: a bug in unda."""


class UndaWarning(UserWarning):
    """Base of the warnings of unda; the module `warnings` filters them as usual."""


class AccuracyWarning(UndaWarning):
    """A run continues although its result will be inaccurate, zero or in mixed units; see also `sim.check`.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", AccuracyWarning)  # such a run raises instead  # doctest: +SKIP
    >>> warnings.simplefilter("ignore", AccuracyWarning)  # doctest: +SKIP
    """


def warn(text: str, category: type[UndaWarning]) -> None:
    """Warn, pointing at the line outside of unda that called it."""
    here, level = os.path.dirname(os.path.abspath(__file__)) + os.sep, 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(here):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level + 1)


#: The exception of each `unda_status` but ``UNDA_OK``.
STATUS_CLASSES: dict[str, type[Error]] = {
    "UNDA_ERR_ARG": ArgumentError,
    "UNDA_ERR_MESH": MeshError,
    "UNDA_ERR_MEMORY": OutOfMemoryError,
    "UNDA_ERR_DEVICE_MEMORY": OutOfMemoryError,
    "UNDA_ERR_UNSTABLE": UnstableError,
    "UNDA_ERR_NO_DEVICE": DeviceError,
    "UNDA_ERR_DEVICE": DeviceError,
    "UNDA_ERR_DEVICE_LOST": DeviceLostError,
    "UNDA_ERR_COMPILE": CompileError,
    "UNDA_ERR_FORK": ForkError,
    "UNDA_ERR_BUSY": BusyError,
    "UNDA_ERR_IO": FileError,
    "UNDA_ERR_INTERNAL": InternalError,
}
