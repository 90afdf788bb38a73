"""What users call says what it takes and gives, and its examples run as they stand."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
import unda

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(unda.__path__, "unda.")
    if not name.endswith(("_cffi", "__main__", "libunda"))
]
NO_DOCSTRING = {"datasets", "exact", "EPS0", "MU0"}  # modules of their own; numbers
PUBLIC = {f"unda.{name}": getattr(unda, name) for name in unda.__all__ if name not in NO_DOCSTRING}
PUBLIC |= {f"unda.exact.{name}": getattr(unda.exact, name) for name in unda.exact.__all__}
PUBLIC |= {f"unda.datasets.{name}": getattr(unda.datasets, name) for name in ("path", "mesh", "model")}


@pytest.fixture(autouse=True)
def at_the_top(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


@pytest.mark.parametrize("name", MODULES)
def test_examples_run_as_they_stand(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_there_are_examples_and_a_wrong_one_fails():
    found = (doctest.DocTestFinder().find(importlib.import_module(name)) for name in MODULES)
    assert sum(len(one.examples) for of_module in found for one in of_module) > 50
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _: None).failed == 1


def methods(cls):
    own = [getattr(cls, name) for name in dir(cls) if not name.startswith("_")]
    return [method for method in own if inspect.isfunction(method)]


def test_what_is_public_is_documented_and_typed():
    silent = []
    for name, thing in PUBLIC.items():
        functions = methods(thing) if inspect.isclass(thing) else [thing] if callable(thing) else []
        for function in [thing, *functions]:
            if not inspect.getdoc(function):
                silent.append(name)
        for function in functions:
            parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
            if any(p.annotation is p.empty for p in parameters):
                silent.append((name, function.__name__))
    assert silent == []


def test_public_functions_and_classes_show_an_example():
    errors = {
        name for name, thing in PUBLIC.items() if inspect.isclass(thing) and issubclass(thing, Exception)
    }
    assert [
        name for name, thing in PUBLIC.items() if name not in errors and ">>>" not in inspect.getdoc(thing)
    ] == []


def test_the_constructors_of_methods_are_read_in_two_minutes():
    """At most 500 words: kernel options have a page of their own, docs/kernel_options.md."""
    for method in (unda.DG, unda.SEM, unda.FD):
        assert 100 < len(inspect.getdoc(method).split()) <= 500
        assert "docs/kernel_options.md" in inspect.getdoc(method)


def see_also(thing):
    """Return the names below "See Also" of a docstring."""
    text = inspect.getdoc(thing).split("See Also\n--------\n")[1:]
    lines = [line for part in text for line in part.split("\n\n")[0].splitlines()]
    return [name for line in lines for name in line.split(" : ")[0].split(", ")]


def test_what_a_docstring_says_to_see_also_exists():
    linked = {name: see_also(thing) for name, thing in PUBLIC.items()}
    assert sum(map(bool, linked.values())) >= 30
    for name, others in linked.items():
        for other in others:
            found = unda.datasets if name.startswith("unda.datasets.") and "." not in other else unda
            for part in other.removeprefix("unda.").split("."):
                found = getattr(found, part)
