"""Where moto's dispatcher finds the service. Its CreateSession is in no SDK: signed by certificates, not by keys."""

from .responses import RolesAnywhereResponse
from .session import create_session

url_bases = [r"https?://rolesanywhere\.(.+)\.amazonaws\.com"]
ONE = "(?P<{}>[^/]+)"
dispatch = RolesAnywhereResponse.dispatch
url_paths = {
    "{0}/sessions$": create_session,
    **dict.fromkeys(
        ("{0}/trustanchors$", "{0}/profiles$", "{0}/TagResource$", "{0}/UntagResource$", "{0}/ListTagsForResource$"),
        dispatch,
    ),
    **dict.fromkeys(
        (
            f"{{0}}/{kind}/{ONE.format(name)}{end}$"
            for kind, name in (("trustanchor", "trustAnchorId"), ("profile", "profileId"))
            for end in ("", "/enable", "/disable")
        ),
        dispatch,
    ),
}
