"""What the guide says of add-ons is what they are."""

from components.addons import addons, images
from components.addons.addons import always
from components.addons.priorities import TABLE
from components.addons.spec import AddOnsSpec
from components.addons.watches import ALLOWED
from components.pools.admission import JOINING_GROUP, NAME
from tests.components.addons import bed
from tests.test_docs import tables

GUIDE = bed.ROOT / "docs/guide/add-ons.md"


def test_every_add_on_stands_in_the_guide() -> None:
    (found,) = tables(GUIDE)["What there is"]
    assert [row[0] for row in found[1:]] == list(addons.TABLE)
    assert [row[2] == "always" for row in found[1:]] == [addon.wanted is always for addon in addons.TABLE.values()]


def test_images_and_licences_are_those_of_the_table() -> None:
    (found,) = tables(GUIDE)["Images"]
    assert [tuple(row) for row in found[1:]] == [
        (image.repository, image.tag, image.licence) for image in images.PINNED
    ]


def test_priorities_are_those_of_the_table() -> None:
    (found,) = tables(GUIDE)["Priorities"]
    assert [(row[0], int(row[1])) for row in found[1:]] == [(name, one.value) for name, one in TABLE.items()]


def test_who_asks_the_api_stands_in_the_guide(example: AddOnsSpec) -> None:
    (found,) = tables(GUIDE)["What they ask of the API"]
    made = addons.manifests(example)
    asking = [name for name, manifests in made.items() if bed.asks(manifests)]
    assert sorted(row[0] for row in found[1:-1]) == sorted(asking)
    assert found[-1][0] == "all others"
    outside = {NAME, JOINING_GROUP}  # in no pod
    assert {role.removeprefix("landbridge:") for role, _ in ALLOWED if role not in outside} <= set(asking)
