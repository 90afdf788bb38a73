"""Check every relative link of the built site, without network: the file is there, and so is the anchor.

Sample run: python docs/check_links.py build/docs/html. Links to other sites are counted, not fetched.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TAKES = {"href", "src", "poster"}


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note links and anchors of an element."""
        for name, value in attrs:
            if name in TAKES and value is not None:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken(folder):
    """Return what is wrong, (page, link, why), and how many links lead inside the site and elsewhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(Path(folder).rglob("*.html"))}
    found, inside, outside = [], 0, 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside += 1
                continue
            inside += 1
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                found.append((path.name, link, "no such file"))
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append((path.name, link, "no such anchor"))
    return found, inside, outside


def main(folder):
    """Print what is broken; returns the exit status."""
    found, inside, outside = broken(folder)
    for page, link, why in found:
        print(f"{page}: {link}: {why}", file=sys.stderr)
    print(f"{inside} links inside the site, {len(found)} broken; {outside} to other sites, not fetched")
    return 1 if found or not inside else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
