"""Calls of the API by their model in botocore. What the local cloud does not honour is refused, never left out."""

from typing import Any

from moto.core.responses import ActionResult, BaseResponse

from .models import SERVICE, Invalid, RolesAnywhereBackend, Thing, checked, rolesanywhere_backends

ANCHOR = ("name", "source", "enabled")
PROFILE = ("name", "roleArns", "durationSeconds", "sessionPolicy", "enabled", "acceptRoleSessionName")
# Named in the address, or dealt with apart.
APART = ("tags", "trustAnchorId", "profileId")
# What may be said as long as it asks for nothing.
IDLE = ("requireInstanceProperties", "managedPolicyArns", "crlDpRevocationEnabled", "notificationSettings")


class RolesAnywhereResponse(BaseResponse):
    """A method for each operation, as moto finds them."""

    def __init__(self) -> None:
        super().__init__(service_name=SERVICE)
        self.automated_parameter_parsing = True

    @property
    def own(self) -> RolesAnywhereBackend:
        found: RolesAnywhereBackend = rolesanywhere_backends[self.current_account][self.region]
        return found

    def given(self, known: tuple[str, ...]) -> dict[str, Any]:
        params: dict[str, Any] = {name: value for name, value in self.params.items() if value is not None}
        for name, value in params.items():
            if name not in (*known, *APART) and not (name in IDLE and not value):
                raise Invalid(f"The local cloud does not act on {name} yet")
        return {name: params[name] for name in known if name in params}

    def create_trust_anchor(self) -> ActionResult:
        return anchor(self.own.create_trust_anchor(self.given(ANCHOR), self._get_param("tags", [])))

    def get_trust_anchor(self) -> ActionResult:
        return anchor(self.own.trust_anchor(self._get_param("trustAnchorId")))

    def update_trust_anchor(self) -> ActionResult:
        thing, attributes = self.own.trust_anchor(self._get_param("trustAnchorId")), self.given(ANCHOR)
        checked(attributes)
        thing.change(attributes)
        return anchor(thing)

    def enable_trust_anchor(self) -> ActionResult:
        return anchor(self._switched(self.own.trust_anchor(self._get_param("trustAnchorId")), on=True))

    def disable_trust_anchor(self) -> ActionResult:
        return anchor(self._switched(self.own.trust_anchor(self._get_param("trustAnchorId")), on=False))

    def delete_trust_anchor(self) -> ActionResult:
        thing = self.own.trust_anchor(self._get_param("trustAnchorId"))
        del self.own.trust_anchors[thing.id]
        return anchor(thing)

    def list_trust_anchors(self) -> ActionResult:
        return ActionResult({"trustAnchors": [thing.told for thing in self.own.trust_anchors.values()]})

    def create_profile(self) -> ActionResult:
        return profile(self.own.create_profile(self.given(PROFILE), self._get_param("tags", [])))

    def get_profile(self) -> ActionResult:
        return profile(self.own.profile(self._get_param("profileId")))

    def update_profile(self) -> ActionResult:
        thing = self.own.profile(self._get_param("profileId"))
        thing.change(self.given(PROFILE))
        return profile(thing)

    def enable_profile(self) -> ActionResult:
        return profile(self._switched(self.own.profile(self._get_param("profileId")), on=True))

    def disable_profile(self) -> ActionResult:
        return profile(self._switched(self.own.profile(self._get_param("profileId")), on=False))

    def delete_profile(self) -> ActionResult:
        thing = self.own.profile(self._get_param("profileId"))
        del self.own.profiles[thing.id]
        return profile(thing)

    def list_profiles(self) -> ActionResult:
        return ActionResult({"profiles": [thing.told for thing in self.own.profiles.values()]})

    def tag_resource(self) -> ActionResult:
        thing = self.own.of_arn(self._get_param("resourceArn"))
        thing.tags |= {tag["key"]: tag["value"] for tag in self._get_param("tags")}
        return ActionResult({})

    def untag_resource(self) -> ActionResult:
        thing = self.own.of_arn(self._get_param("resourceArn"))
        for key in self._get_param("tagKeys"):
            thing.tags.pop(key, None)
        return ActionResult({})

    def list_tags_for_resource(self) -> ActionResult:
        thing = self.own.of_arn(self._get_param("resourceArn"))
        return ActionResult({"tags": [{"key": key, "value": value} for key, value in thing.tags.items()]})

    def _switched(self, thing: Thing, *, on: bool) -> Thing:
        thing.change({"enabled": on})
        return thing


def anchor(thing: Thing) -> ActionResult:
    return ActionResult({"trustAnchor": thing.told})


def profile(thing: Thing) -> ActionResult:
    return ActionResult({"profile": thing.told})
