"""Finished values of sweeps on disk: the identity of a case, and files whose damage is detected.

Not here: running the cases (sweep.py), atomic writing (_files.py).
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._core import lib
from ._files import replacing
from .errors import ArgumentError, FileError

STORES = ("pickle", "json", "npz")
_DIGEST = "sha256"  # name of the digest in a file


@dataclass(frozen=True)
class Cache:
    """A folder of values, one file per case; goes to other processes.

    Attributes
    ----------
    folder : Path
    store : str
        One of `STORES`.
    identity : str
        What every key holds: the function, and what its values depend on besides the case.
    """

    folder: Path
    store: str
    identity: str

    def path(self, case: Mapping[str, Any]) -> Path:
        """Return the file of a case."""
        key = hashlib.sha256(self.identity.encode())
        try:
            for part in _parts(dict(case)):
                key.update(part)
        except RecursionError:
            raise ArgumentError("a case holds itself, so cache= cannot be used") from None
        suffix = {"pickle": "pkl"}.get(self.store, self.store)
        return self.folder / f"{key.hexdigest()[:32]}.{suffix}"

    def load(self, case: Mapping[str, Any]) -> tuple[bool, Any]:
        """Return whether there is a finished value, and the value; a damaged file does not count."""
        path = self.path(case)
        try:
            return True, _read(self.store, path.read_bytes())
        except FileNotFoundError:
            return False, None
        except Exception as error:
            _core.logger.warning("%s cannot be read (%s); the case runs again", path, error)
            return False, None

    def keep(self, case: Mapping[str, Any], value: Any) -> str | None:
        """Write a value; return what prevents it, None if nothing does."""
        try:
            data = _written(self.store, value)
            with replacing(self.path(case)) as file:
                file.write(data)
        except (FileError, OSError, ArgumentError) as error:
            return str(error)
        except Exception as error:
            return f"a {type(value).__name__} cannot be kept as {self.store}: {error}"
        return None


def identity_of(function: Callable[..., Any], cache_key: str | None) -> str:
    """Return what identifies a function's values: its name, with its source and unda's, or with a key."""
    bound: list[Any] = []
    while isinstance(function, partial):
        bound.append([list(function.args), function.keywords])
        function = function.func
    name = f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}"
    told = hashlib.sha256(b"".join(_parts(bound))).hexdigest()
    if cache_key is not None:
        return "\0".join([name, told, "key", cache_key])
    try:
        text = Path(inspect.getsourcefile(function) or "").read_bytes()
    except (OSError, TypeError):  # a notebook has no file
        try:
            text = inspect.getsource(function).encode()
        except (OSError, TypeError):
            raise ArgumentError(
                f"the source of {name} cannot be found, so a changed function would not be noticed; give "
                "cache_key=, a text that you change with it"
            ) from None
    source = hashlib.sha256(text).hexdigest()
    return "\0".join([name, told, source, _core.version(), _core.text(lib.unda_source_hash())])


def _parts(value: Any) -> Iterator[bytes]:
    """Yield bytes that distinguish a value from all others, also by type: (1, 2) from [1, 2], 1 from "1"."""
    kind = type(value).__qualname__
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        text = repr(value).encode()
        yield f"{kind} {len(text)} ".encode() + text
    elif isinstance(value, (list, tuple)):
        yield f"{kind} {len(value)} ".encode()
        for one in value:
            yield from _parts(one)
    elif isinstance(value, (set, frozenset)):
        yield f"{kind} {len(value)} ".encode()
        yield from sorted(b"".join(_parts(one)) for one in value)
    elif isinstance(value, Mapping):
        yield f"{kind} {len(value)} ".encode()
        yield from sorted(b"".join(_parts(key)) + b"".join(_parts(one)) for key, one in value.items())
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"{kind} {value.dtype.str} {value.shape} ".encode()
        yield hashlib.sha256(np.ascontiguousarray(value).data).digest()
    else:
        try:
            yield f"{kind} ".encode() + hashlib.sha256(pickle.dumps(value)).digest()
        except Exception as error:
            raise ArgumentError(
                f"{value!r} cannot be told from others, so cache= cannot be used: {error}"
            ) from None


def _written(store: str, value: Any) -> bytes:
    """Return a value as the bytes of a file with its digest."""
    if store == "pickle":
        data = pickle.dumps(value)
        return hashlib.sha256(data).digest() + data
    if store == "json":
        text = json.dumps(value, sort_keys=True)
        if not _same(json.loads(text), value):
            raise ArgumentError(f"a {type(value).__name__} does not come back from JSON as it went")
        return json.dumps({_DIGEST: hashlib.sha256(text.encode()).hexdigest(), "value": value}).encode()
    arrays = value if isinstance(value, dict) else {"": value}
    for name, one in arrays.items():
        array = isinstance(one, (np.ndarray, np.generic)) and not one.dtype.hasobject
        if not isinstance(name, str) or not array:
            raise ArgumentError("NPZ holds a NumPy array of numbers or text, or a dict of them by name")
    made: dict[str, Any] = {f"value_{name}": np.asarray(one) for name, one in arrays.items()}
    file = io.BytesIO()
    kind = "dict" if isinstance(value, dict) else "array"
    more: dict[str, Any] = {"kind": np.array(kind), _DIGEST: np.array(_of_arrays(made, kind))}
    np.savez(file, **made, **more)
    return file.getvalue()


def _same(found: Any, value: Any) -> bool:
    """Say whether a stored value reads back the same, types included; NaN equals NaN."""
    return b"".join(_parts(found)) == b"".join(_parts(value))


def _of_arrays(arrays: dict[str, Any], kind: str) -> str:
    return hashlib.sha256(b"".join(_parts([kind, arrays]))).hexdigest()


def _read(store: str, data: bytes) -> Any:
    """Return the value in a file; raises if its digest does not match."""
    if store == "pickle":
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            raise ValueError("its digest does not fit")
        return pickle.loads(data[32:])
    if store == "json":
        found = json.loads(data)
        value = found["value"]
        digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    else:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        arrays = {name: one for name, one in found.items() if name.startswith("value_")}
        kind = str(found["kind"])
        value = {name[6:]: one for name, one in arrays.items()} if kind == "dict" else arrays["value_"]
        digest = _of_arrays(arrays, kind)
    if digest != str(found[_DIGEST]):
        raise ValueError("its digest does not fit")
    return value
