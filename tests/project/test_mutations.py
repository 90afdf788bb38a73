"""`make mutate`: each of its faults can be put in and has tests, a copy is whole again after one.

Not here: how faults are tried (mutate.py); which there are (mutations.py).
"""

import argparse
from pathlib import Path

import exchange_faults
import mutate
import mutations
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_every_fault_of_make_mutate_can_be_put_in():
    """What a fault replaces stands once in its file: code that moved takes its faults along."""
    texts = {path: (ROOT / path).read_text() for path, _, _ in mutations.MUTATIONS}
    assert [(path, old) for path, old, _ in mutations.MUTATIONS if texts[path].count(old) != 1] == []


def test_every_fault_of_make_mutate_has_tests_that_are_there():
    names = {path.stem for path in (ROOT / "tests").glob("*/test_*.py")}
    paths = {path for path, _, _ in mutations.MUTATIONS}
    assert {path: name for path in paths for name in mutations.seen_by(path) if name not in names} == {}


def test_each_way_of_an_exchange_has_a_fault_of_each_kind():
    """Something dropped, something in the place of another, something late: alone, each is seen by a test."""
    ways = exchange_faults.EXCHANGE_FAULTS
    assert {way: kinds for way, kinds in ways.items() if tuple(kinds) != exchange_faults.KINDS} == {}
    assert [(way, kind) for way, kinds in ways.items() for kind, faults in kinds.items() if not faults] == []
    assert set(exchange_faults.LISTED) <= set(mutations.MUTATIONS)
    assert len(set(mutations.MUTATIONS)) == len(mutations.MUTATIONS)


def test_shares_of_make_mutate_are_all_faults_once():
    given = [mutate.share(f"{k}/3") for k in (1, 2, 3)]
    shares = [fault for one in given for fault in mutate.checked(["csrc/fd/slab"], *one)]
    assert sorted(shares) == sorted(mutate.checked(["csrc/fd/slab"], 1, 1))
    for wrong in ("0/3", "4/3", "1", "1/", "a/3", "-1/3"):
        with pytest.raises(argparse.ArgumentTypeError, match="expected K/N"):
            mutate.share(wrong)


def test_after_a_fault_a_copy_has_the_files_and_times_of_before(tmp_path):
    """Or the next fault would be tried together with this one, or with all compiled anew."""
    whole = tmp_path / "whole"
    (whole / "csrc").mkdir(parents=True)
    for name, text in (("a.c", "one"), ("b.c", "two"), ("a.o", "old")):
        (whole / "csrc" / name).write_text(text)
    copy = mutate.copied(whole, tmp_path / "copy")
    (copy / "csrc" / "a.c").write_text("off")
    (copy / "csrc" / "a.o").unlink()
    mutate.restore(copy, whole)
    for file in (whole / "csrc").iterdir():
        there = copy / "csrc" / file.name
        assert there.read_text() == file.read_text()
        assert there.stat().st_mtime_ns == file.stat().st_mtime_ns


def test_what_pytest_lists_is_understood():
    output = "PASSED tests/a/test_a.py::test_one[x y]\nFAILED tests/a/test_a.py::test_two - assert 1 - 2\n"
    assert mutate.listed("FAILED", output) == ["tests/a/test_a.py::test_two"]
    assert mutate.listed("PASSED", output) == ["tests/a/test_a.py::test_one[x y]"]
    assert mutate.listed("ERROR", output) == []
