"""docs/ as a site: every page stands in the navigation once, and what is GitHub's own becomes the site's."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import pages  # noqa: E402

SITE = YAML(typ="safe").load(ROOT / "mkdocs.yml")
DOORS = ["Try", "Plan", "Build", "Operate", "Extend"]


def paths(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for below in entry.values() if isinstance(entry, dict) else [entry]:
            yield from [below] if isinstance(below, str) else paths(below)


def doors() -> dict[str, list[str]]:
    return {name: [*paths(below)] for entry in SITE["nav"] if isinstance(entry, dict) for name, below in entry.items()}


def test_every_page_is_in_the_navigation_once() -> None:
    docs = ROOT / "docs"
    assert sorted(paths(SITE["nav"])) == sorted(str(path.relative_to(docs)) for path in docs.rglob("*.md"))


def test_the_navigation_has_five_doors() -> None:
    assert SITE["nav"][0] == "index.md"
    assert [*doors()] == DOORS
    for folder, door in (("runbooks", "Operate"), ("decisions", "Extend")):
        assert {name for name, below in doors().items() if any(page.startswith(folder) for page in below)} == {door}


def test_the_landing_page_and_the_readme_name_the_doors() -> None:
    for page in (ROOT / "docs/index.md", ROOT / "README.md"):
        assert all(f"**{door}**" in page.read_text() for door in DOORS)


def test_the_site_asks_no_other_host() -> None:
    assert SITE["theme"]["font"] is False
    assert SITE["plugins"] == ["search"]
    assert not SITE.keys() & {"repo_url", "extra_javascript", "extra"}
    (own,) = SITE["extra_css"]
    assert "url(" not in (ROOT / "docs" / own).read_text()


def test_a_link_out_of_the_docs_becomes_a_name() -> None:
    text = (
        "See [the matrix](../../components/network/ports.py), [`fleet.yaml`](../../fleet.yaml#L3), [links](links.md)."
    )
    said = "See the matrix (`components/network/ports.py`), `fleet.yaml`, [links](links.md)."
    assert pages.within(text, "guide/sites.md") == said
    inside = "[drift](../runbooks/drift.md) ![fleet](../img/fleet.svg)"
    assert pages.within(inside, "guide/sites.md") == inside
    assert pages.within("[matrix](../ports.py)", "architecture.md") == "matrix (`ports.py`)"


LISTED = """\
Two steps:
1. Stop it:

   ```
   systemctl stop nfs-server
     - indented
   ```

   It ends.
2. Go on
   here.
Lazily, too.

```
- no list
  at all
```

After.
"""
AS_THE_SITE_HAS_IT = """\
Two steps:

1. Stop it:

    ```
    systemctl stop nfs-server
      - indented
    ```

    It ends.

2. Go on
    here.
Lazily, too.

```
- no list
  at all
```

After.
"""


def test_lists_are_written_as_pythons_markdown_reads_them() -> None:
    assert pages.lists(LISTED) == AS_THE_SITE_HAS_IT
    assert pages.lists(AS_THE_SITE_HAS_IT) == AS_THE_SITE_HAS_IT
