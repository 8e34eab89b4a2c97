"""What an image must be for pools to start from it, and how to say why one is not."""

import datetime
from collections.abc import Iterator

from .kubernetes_versions import minor

# On an image, set when it is published: the version of Kubernetes in it, and what its bake said of it.
TAG = "landbridge:kubernetes"
NAME, VARIANT, DIGEST, DRIVER = "landbridge:image", "landbridge:variant", "landbridge:digest", "landbridge:driver"
# Of DRIVER where the image has none.
DRIVERLESS = "none"
PROMOTE = "Bake one and promote it"


def refusals(
    kubernetes: str,
    version: str | None,
    created: str,
    most_days: int,
    now: datetime.datetime,
    *,
    gpus: int = 0,
    driver: str | None = None,
) -> Iterator[tuple[str, str]]:
    """What is wrong, and what would be right. `version` is the version in the image, `created` its time in ISO 8601.

    `gpus` are those of one machine: with any, the image must have a driver, whose version `driver` is.
    """
    if version is None:
        yield "does not say which Kubernetes is in it", f"Tag it {TAG}: VERSION, as its bake does"
    elif minor(version) != minor(kubernetes):
        yield f"holds Kubernetes {version}, and the cluster runs {kubernetes}", f"{PROMOTE} with {minor(kubernetes)}"
    if gpus and driver in (None, "", DRIVERLESS):
        what = "says that it has no NVIDIA driver" if driver == DRIVERLESS else f"does not say ({DRIVER}) which driver"
        yield f"{what}, and the machines have {gpus} GPUs", f"{PROMOTE} with a driver: one of variant gpu"
    try:
        days = (now - datetime.datetime.fromisoformat(created)).days
    except (ValueError, TypeError):  # a time that is none, or without its zone
        yield f"is of an unknown day ({created!r})", PROMOTE
        return
    if days > most_days:
        what = f"is {days} days old, and the fleet takes images for {most_days}"
        yield what, f"{PROMOTE}, or raise images.max_age_days in the fleet file"
