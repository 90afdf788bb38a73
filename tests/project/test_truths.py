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


def lost(text):
    """Return the lines of a page that MyST takes for comments: outside of code, those that begin with %."""
    return [
        line
        for line in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.M).splitlines()
        if line[:1] == "%"
    ]


def test_no_line_of_a_page_is_lost_as_a_comment():
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    assert len(pages) > 20 and not [line for page in pages for line in lost(page.read_text())]
    assert lost("returns 15\n% of sound\n```\n% code\n```\n") == ["% of sound"]  # twin
