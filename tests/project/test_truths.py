"""What the documents say of the code as a whole is so."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_one_file_touches_cffi():
    files = (ROOT / "python" / "unda").rglob("*.py")
    users = [path.name for path in files if re.search(r"\bffi\b", path.read_text())]
    assert sorted(users) == ["_cffi.py", "_core.py"]


def test_the_size_of_every_struct_that_kernels_take_is_asserted():
    """By the host's compiler and by NVRTC, which read the same line."""
    structs, asserted = [], []
    for path in (ROOT / "cuda").rglob("*args.h"):
        text = path.read_text()
        structs += re.findall(r"^struct (\w+_args) \{", text, re.MULTILINE)
        asserted += re.findall(r"^SIZE_IS\((\w+_args), \d+\);", text, re.MULTILINE)
    assert len(structs) > 10 and sorted(structs) == sorted(asserted)
