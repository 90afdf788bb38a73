"""The memory in which a simulation keeps a field, as it stands there: no copy, no order of the user's.

Not here: copies in the user's order (device_array.py), where the library keeps fields (csrc/*/view.c).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._core import lib
from ..errors import ArgumentError
from . import _dlpack
from .device_array import read_back


class RawArray:
    """A field where it stands in memory, read only; made by ``sim.device_array(field, raw=True)``.

    ``numpy.asarray(array)`` (on the CPU), ``torch.from_dlpack(array)``, ``cupy.asarray(array)`` and others
    use the memory without a copy and keep it alive, also once the simulation is closed. They must not write
    to it: a library that knows read-only arrays is told so. It has the field of the step at which it was
    made. Others are elsewhere, and it refuses to hand out the memory after a step, `set` or `reset`: ask for
    another one then.

    Attributes
    ----------
    shape, strides : tuple of int
        Strides in bytes.
    axes : tuple of str
        What each axis is. "x", "y", "z" on grids, where half a cell beyond a wall is what is stored, which an
        image may replace in `get`. On meshes of `DG` "cell" and "node", or "block", "cell of the block" and
        "node"; of `SEM` "node", of which neighbouring cells share some.
    cells : ndarray of int64 or None
        On meshes the number of the cell, for all axes but "node" of `DG`; of `SEM` that of a cell with the
        node; -1 where memory is not used.
    nodes : ndarray of int64 or None
        Of `SEM`, the number of the node in that cell.
    dtype : dtype
    device : str
        "cpu" or "cuda:0", ...
    pointer : int
        Where the first value is.

    Examples
    --------
    >>> import numpy as np, unda
    >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 1, 1))
    >>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, device="cpu")
    >>> raw = sim.device_array("p", raw=True)
    >>> raw.axes, raw.shape
    (('cell', 'node'), (12, 4))
    >>> field = np.empty(raw.shape)
    >>> field[raw.cells] = raw
    >>> np.array_equal(field, sim.get("p"))
    True
    """

    def __init__(self, sim: Any, field: str) -> None:
        if field not in sim.fields:
            raise ArgumentError(
                f"no field {field!r} is in memory; there are {list(sim.fields)}, and without raw=True copies "
                "of what follows from these"
            )
        number = sim.fields.index(field)
        view = _core.new_struct("unda_view")
        sim._solver.call(lib.unda_solver_view, number, view, _core.NULL)
        self.device = "cpu" if view.device < 0 else f"cuda:{view.device}"
        self.dtype = np.dtype(np.float32 if view.real_bytes == 4 else np.float64)
        self.pointer = int(view.address)
        num, stride = list(view.num), list(view.stride)
        self.cells: np.ndarray | None = None
        self.nodes: np.ndarray | None = None
        self.axes = self._name_axes(sim, num)
        if self.axes != ("x", "y", "z"):
            self._number(sim, number, num)
        kept = [i for i in range(3) if len(self.axes) == 3 or (i != 1 and (i == 0 or len(self.axes) == 2))]
        self.shape = tuple(int(num[i]) for i in kept)
        self.strides = tuple(int(stride[i]) * self.dtype.itemsize for i in kept)
        self._sim, self._step, self._kept = sim, sim.step_count, None
        self._changes = sim._solver.changes
        sim._solver.views.add(self)

    @staticmethod
    def _name_axes(sim: Any, num: list[int]) -> tuple[str, ...]:
        if not hasattr(sim, "mesh"):
            return "x", "y", "z"
        if num[2] == 1:
            return ("node",)
        return ("cell", "node") if num[1] == 1 else ("block", "cell of the block", "node")

    def _number(self, sim: Any, number: int, num: list[int]) -> None:
        rows = np.empty(num[0] * num[1], np.int64)
        sim._solver.call(
            lib.unda_solver_view, number, _core.new_struct("unda_view"), _core.pointer(rows, writable=True)
        )
        if self.axes == ("node",):
            self.cells = np.where(rows < 0, -1, rows // sim.num_node)
            self.nodes = np.where(rows < 0, -1, rows % sim.num_node)
        else:
            self.cells = rows.reshape(num[:2] if num[1] > 1 else num[0])

    def _hand_out(self) -> int:
        """Return where the first value is, or raise if the field is elsewhere by now."""
        if self._kept is None and self._sim._solver.changes != self._changes:
            raise ArgumentError(
                f"this array has the field of step {self._step} before the simulation, now at step "
                f"{self._sim.step_count}, was stepped or set; sim.device_array(field, raw=True) gives that "
                "of now"
            )
        return self.pointer

    def numpy(self) -> np.ndarray:
        """Return a copy on the host, in the same order."""
        pointer = self._hand_out()
        if self.device == "cpu":
            return np.array(np.asarray(self))
        span = sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True))
        num = span // self.dtype.itemsize + 1 if min(self.shape) else 0
        flat = read_back(pointer, (num,), self.dtype, int(self.device[5:]))
        return np.array(np.lib.stride_tricks.as_strided(flat, self.shape, self.strides))

    def _interface(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self._hand_out(), True),
            "strides": self.strides, "version": 3,
        }  # fmt: skip

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """What NumPy reads, of memory of the host."""
        if self.device != "cpu":
            raise AttributeError(f"the memory is that of {self.device}: numpy() gives a copy")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What cupy and numba read, of memory of a CUDA device."""
        if self.device == "cpu":
            raise AttributeError("the memory is that of the host: numpy.asarray takes it")
        return {**self._interface(), "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind of device, CPU or CUDA, and its number."""
        return (_dlpack.CPU, 0) if self.device == "cpu" else (_dlpack.CUDA, int(self.device[5:]))

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """Return it as a capsule; the values are there already, so that no stream has to wait."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"{self!r} gives no copies; expected copy=None on its own device")
        return _dlpack.capsule(
            self, self._hand_out(), self.shape, self.dtype, self.__dlpack_device__(), self.strides,
            read_only=max_version is not None and max_version[0] >= 1,
        )  # fmt: skip

    def __repr__(self) -> str:
        about = ", ".join(f"{n} {axis}" for n, axis in zip(self.shape, self.axes, strict=True))
        return f"RawArray({about}; {self.dtype}, {self.device}, step {self._step})"
