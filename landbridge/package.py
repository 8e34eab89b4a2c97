"""What Pulumi starts as the plugin `landbridge` of an install: `bin/pulumi-resource-landbridge` of its environment.

A folder with a PulumiPlugin.yaml would do, too, but Pulumi makes of that an environment of its own, or changes the one
that it names.
"""

from stacks.package.host import main as serve


def main() -> None:
    """Serves until the engine ends it."""
    serve()
