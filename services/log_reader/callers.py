"""Who asks: a team's service account, by a token that the API has made for this service alone."""

from collections.abc import Iterable

from fleet.kept_logs import AUDIENCE
from fleet.team_storage import namespace, subject
from kube_http import Kube

REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


class Callers:
    """Whoever may have such a token is of the team: its people by their binding, and its pods."""

    def __init__(self, kube: Kube, teams: Iterable[str]) -> None:
        self.kube, self.spaces = kube, {subject(team): namespace(team) for team in teams}

    def namespace(self, token: str) -> str | None:
        """None for a token that is no team's, is over, or is for somebody else. Raises OSError, and Answer."""
        spec = {"token": token, "audiences": [AUDIENCE]}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        told = self.kube.ask("POST", REVIEWS, body)["status"]
        if not told.get("authenticated") or AUDIENCE not in told.get("audiences", []):
            return None
        return self.spaces.get(told["user"]["username"])
