"""A fleet with queues, and runs in it, as tests of experiments begin with."""

from typing import Any

from components.addons.queues import capacity
from components.addons.spec import AddOnsSpec, addons_spec
from fleet import team_queues
from fleet.address.plan import draft
from fleet.loader import load
from fleet.world import World
from landbridge.experiments.hosts import Hosts
from landbridge.experiments.manifest import Launched
from landbridge.experiments.spec import Run
from landbridge.experiments.templates import FOLDER, template
from landbridge.queue.room import room
from landbridge.queue.runs import Room
from tests.components.addons import bed

PATH = bed.HERE / "queues.yaml"
CODE = "s3://example-us-west-2-123456789012/teams/vision/code/trees/" + "a" * 64 + ".json"


def world() -> World:
    fleet = load(PATH)
    return World(fleet, draft(fleet, None, bed.BORN).plan, PATH)


def spec() -> AddOnsSpec:
    made = world()
    return addons_spec(made.fleet, made.plan, "main")


def empty_room(**held: dict[str, int]) -> Room:
    """`held` are GPUs by flavour, by team."""
    queues = [
        {
            "metadata": {"name": team},
            "status": {
                "flavorsReservation": [
                    {"name": name, "resources": [{"total": str(gpus)}]} for name, gpus in found.items()
                ]
            },
        }
        for team, found in held.items()
    ]
    made = spec()
    return room(queues, team_queues.of_cluster(made.fleet, "main"), capacity(made))


def launched(hosts: int = 2, form: str = "plain", **fields: Any) -> Launched:
    run = Run(command=["python", "train.py"], gpus=8 * hosts, template=form, **fields)
    many = Hosts(hosts, 8)
    record = {
        "run": run.model_dump(mode="json", include={"command", "priority"}),
        "team": "vision",
        "hosts": many.number,
        "gpus_per_host": many.gpus,
    }
    form_found = template(form, FOLDER)
    return Launched(run, "train-1", "vision", "bob", "example.com/train:1", many, form_found, ("room",), CODE, record)
