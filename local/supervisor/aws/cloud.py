"""The machines service's side of the local AWS: what its instances have that no other cloud's machines have."""

from ..cloud import Cloud


class Aws(Cloud):
    name = "aws"

    def credentials(self, instance: str) -> dict[str, str]:
        """A role's, for an instance. Raises CloudError with instance metadata's code when it has none."""
        found: dict[str, str] = self.ask("credentials", instance)
        return found
