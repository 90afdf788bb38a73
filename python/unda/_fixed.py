"""Objects whose public attributes say what they were made from, and cannot be set: nothing would change.

Not here: what the attributes are (simulation_base.py, receiver.py, mesh.py, medium.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .errors import ArgumentError


class Fixed:
    """Base of such objects; the constructor ends with ``self._fix()``, of sources a simulation calls it.

    Names with an underscore, methods, and attributes that a user adds can be set as on any object.
    """

    _is_fixed = False
    #: What else to do, by name of the attribute.
    _instead: ClassVar[Mapping[str, str]] = {}
    #: What to do about all others.
    _otherwise: ClassVar[str] = "it says what is so"

    def _fix(self) -> None:
        self._is_fixed = True

    def _advice(self, name: str) -> str | None:
        """Return what to do instead of setting an attribute, or None if it may be set."""
        if name in self._instead:
            return self._instead[name]
        known = name in vars(self) or not callable(getattr(type(self), name, len))
        return self._otherwise if known else None

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_fixed and not name.startswith("_") and (advice := self._advice(name)) is not None:
            raise ArgumentError(f"{type(self).__name__}.{name} cannot be set: {advice}")
        super().__setattr__(name, value)
