"""Definitions of upstream's kinds are those of the modules that are pinned, and the images of the same versions."""

import json

import go_tools
import pytest

from components.addons import images
from components.addons.definitions import FOLDER, converted, definitions
from tests.support.cloud import ROOT

MODULES = json.loads((FOLDER / "modules.json").read_text())


@pytest.mark.parametrize(("name", "image"), [("kueue", images.KUEUE), ("jobset", images.JOBSET)])
def test_definitions_program_and_image_are_of_one_version(name: str, image: images.Image) -> None:
    line = f"sigs.k8s.io/{name} {image.tag} {MODULES[name]}\n"
    assert line in (ROOT / f"tools/{name}/go.sum").read_text(), "run `make golden`"
    (tool,) = [one for one in go_tools.QUEUE_TOOLS if one.name == name]
    assert tool.ldflags.endswith(f"GitVersion={image.tag}")


def test_a_definition_has_one_version_and_no_prose() -> None:
    for group in ("kueue.x-k8s.io", "jobset.x-k8s.io"):
        for one in definitions(group, "test"):
            (version,) = one["spec"]["versions"]
            assert version["served"]
            assert version["storage"]
    texts = [file.read_text() for file in FOLDER.glob("*.io.json")]
    assert len(texts) == 10
    assert not [text for text in texts if '"description":"' in text]


def test_only_those_that_are_named_have_a_conversion() -> None:
    made = converted(definitions("kueue.x-k8s.io", "test"), ["cohorts.kueue.x-k8s.io"], {"url": "https://127.0.0.1"})
    assert [one["metadata"]["name"] for one in made if "conversion" in one["spec"]] == ["cohorts.kueue.x-k8s.io"]
