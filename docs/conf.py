"""The site: Sphinx over docs/, the docstrings, examples/ and notebooks/; `make docs` builds it.

Nothing is run: pictures are stored in docs/pictures, outputs in notebooks; `make docs-gallery` makes both.
Not here: what the pages say.
"""

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

import unda  # noqa: E402

project = "unda"
author = copyright = "unda contributors"
version = release = unda.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "capability_page",
    "example_pictures",
    "exact_pages",
    "mathml",
    "page_links",
]
exclude_patterns = ["_ext", "_build", "gallery/*.ipynb", "gallery/*.md5", "**/.ipynb_checkpoints"]

# ---- Markdown: equations between dollars, anchors for all headings down to the third, as GitHub has them
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # --quick is no dash
default_role = "code"  # what stands between single backticks in docstrings
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions

# ---- notebooks: as they are stored
nb_execution_mode = "off"
nb_merge_streams = True

# ---- docstrings
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc says types, in words
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # "mesh, medium" are two names
napoleon_use_rtype = False

# ---- examples: pages from their text and code, pictures by example_pictures
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "plot_gallery": "False",
    "download_all_examples": False,
    "show_signature": False,
    "copyfile_regex": r".*\.rst",
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(HERE / "pictures" / "no_picture.png"),
}

# ---- HTML
html_theme = "furo"
html_title = "unda"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}


def setup(app):
    """Bring the notebooks where Sphinx finds them."""
    target = HERE / "notebooks"
    target.mkdir(exist_ok=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy2(path, target / path.name)
