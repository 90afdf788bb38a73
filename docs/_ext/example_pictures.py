"""Examples show the picture that they draw, as it is stored in docs/pictures.

Not here: drawing (docs/gallery_pictures.py), pages of examples (sphinx-gallery).
"""

import re
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


def show(app, docname, source):
    """Put the picture of an example below the title of its page."""
    folder, _, name = docname.rpartition("/")
    if folder == "gallery" and (HERE / "pictures" / f"{name}.png").is_file():
        picture = (
            f"\\g<0>\n.. image:: /pictures/{name}.png\n   :alt: what {name}.py draws\n   :class: example\n"
        )
        source[0] = re.sub(r"^(.+)\n(=+)\n", picture, source[0], count=1, flags=re.MULTILINE)


def thumbnails(app):
    """Replace the thumbnails that sphinx-gallery made without pictures."""
    for path in (HERE / "pictures").glob("*.png"):
        made = Path(app.srcdir) / "gallery" / "images" / "thumb" / f"sphx_glr_{path.stem}_thumb.png"
        if made.is_file():
            shutil.copyfile(path, made)


def setup(app):
    """Connect both; the thumbnails after sphinx-gallery's."""
    app.connect("source-read", show)
    app.connect("builder-inited", thumbnails, priority=900)
    return {"parallel_read_safe": True}
