"""What the site of docs/ does with marks that are GitHub's. mkdocs.yml names this file as a hook.

Pages are written for both: on GitHub a link may lead to a program, and what is indented as far as an item's text is a
part of the item.
"""

import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]+)(?:#[^)\s]*)?\)")
ITEM = re.compile(r"(?:[-*]|\d+\.) +")
FENCE = "```"
# What Python's Markdown wants before a part of an item.
INDENTED = 4


def on_config(config: MkDocsConfig, **_: object) -> None:
    """Called by MkDocs: anchors of headings are GitHub's, too."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Called by MkDocs with each page's text."""
    return lists(within(markdown, page.file.src_uri))


def within(markdown: str, uri: str) -> str:
    """Links that leave docs/ become the name of what they lead to: the site has no page of it."""

    def named(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(uri), link[2]))
        if place.startswith("docs/"):
            return link[0]
        return link[1] if place in link[1] else f"{link[1]} (`{place}`)"

    return LINK.sub(named, markdown)


def lists(markdown: str) -> str:
    """An empty line before each list, and all that belongs to an item at Python's own depth."""
    made: list[str] = []
    width, fenced, parted, before = 0, False, False, ""
    deeper: int | None = None
    for line in markdown.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        if not fenced and (item := ITEM.match(line)):
            made += [""] if before and (parted or not width) else []
            width, parted, deeper = len(item[0]), False, None
        elif width and depth >= width:
            parted |= not before
            if deeper is None:  # the item's first line of that kind speaks for all of them
                deeper = max(INDENTED - depth, 0)
            line = " " * deeper + line
        elif line and (not before or line.startswith(FENCE)):
            width = 0
        fenced ^= not width and line.startswith(FENCE)
        made.append(line)
        before = line
    return "\n".join(made) + "\n"
