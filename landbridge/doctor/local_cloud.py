"""The local cloud: whether it is up, and how its machines are."""

from collections.abc import Iterator

from local import client, standing

from .finding import Finding
from .subject import Patient

AREA = "local cloud"
START = "`landbridge local start`"


def look(patient: Patient) -> Iterator[Finding]:
    if patient.home is None:
        return
    if patient.cloud is None:
        yield from _down(patient)
        return
    for machine in client.machines(patient.cloud):
        name, logs = machine["machine"], f"`landbridge local logs {machine['machine']}` tells more"
        if machine["state"] == "failed":
            yield Finding(AREA, "ailing", f"machine {name} does not run: {machine['why'] or 'it ended'}", logs)
        for unit in machine["failed"]:
            yield Finding(AREA, "ailing", f"machine {name}: its unit {unit} has failed", logs)


def _down(patient: Patient) -> Iterator[Finding]:
    assert patient.home
    try:
        stands = standing.generation(patient.home)
    except standing.StandingError as error:
        yield Finding(AREA, "broken", f"{error}".partition(". ")[0], standing.DROP)
        return
    if stands is None:
        yield Finding(AREA, "soon", "there is none yet", patient.command("up"))
        return
    why = client.last_words(patient.home)
    text = f"it is not up{f': it {why}' if why else ': it was killed'}"
    yield Finding(AREA, "broken", text, f"{START} brings it back with all that stands in it")
