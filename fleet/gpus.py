"""Which GPU a cloud's machine has: by the family of its instance type.

AWS: "Amazon EC2 accelerated computing instances"; the models carry the names that sites use in fleet.yaml. Azure's are
in `fleet.azure_sizes`.
"""

from . import azure_sizes

# Family → model. Two families with one chip and different memory have different models: jobs ask for memory by it.
AWS_MODELS = {
    "g4dn": "t4",
    "g5": "a10g",
    "g6": "l4",
    "g6e": "l40s",
    "p4d": "a100",
    "p4de": "a100-80g",
    "p5": "h100",
    "p5e": "h200",
    "p5en": "h200",
    "p6-b200": "b200",
}


def model(instance_type: str) -> str | None:
    """None for a type without GPUs, and for a family that is not known here."""
    if theirs := azure_sizes.size(instance_type):
        return theirs.gpu
    return AWS_MODELS.get(instance_type.partition(".")[0])
