"""A cluster's certificates as its stack's state has them, and when each ends. No secret is opened for that."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from components.control_plane.pki import AUTHORITIES, CERTIFICATE_HOURS
from landbridge.engine.stack_report import of_urn

AUTHORITY, SIGNED = "tls:index/selfSignedCert:SelfSignedCert", "tls:index/locallySignedCert:LocallySignedCert"
USES = {ExtendedKeyUsageOID.SERVER_AUTH: "server", ExtendedKeyUsageOID.CLIENT_AUTH: "client"}
# As components/control_plane/authority.py calls them, at the end of their subjects.
AUTHORITY_NAME = re.compile(rf"(?:{'|'.join(AUTHORITIES)})-\d+$")
# An authority with less left would sign certificates that outlive it.
AUTHORITY_LEAD = timedelta(hours=CERTIFICATE_HOURS)
NEVER = datetime.min.replace(tzinfo=UTC)
Verdict = Literal["sound", "due", "expired", "unreadable"]


class Row(NamedTuple):
    """One certificate. `renewal` is when it is to be made anew; None: never. Unreadable ones have neither time."""

    name: str
    authority: str
    uses: tuple[str, ...]
    subject: str
    names: tuple[str, ...]
    begins: datetime | None
    ends: datetime | None
    renewal: datetime | None

    def left(self, now: datetime) -> timedelta:
        return (self.ends or now) - now

    def verdict(self, now: datetime) -> Verdict:
        if self.ends is None:
            return "unreadable"
        if now >= self.ends:
            return "expired"
        return "due" if self.renewal is not None and now >= self.renewal else "sound"

    def as_json(self, now: datetime) -> dict[str, Any]:
        days = None if self.ends is None else self.left(now).days
        return {**self._asdict(), "days_left": days, "verdict": self.verdict(now)}


def rows(state: Mapping[str, Any] | None) -> list[Row]:
    """Every certificate in a stack's deployment: authorities first, then what ends first."""
    found = [
        resource
        for resource in (state or {}).get("resources") or ()
        if resource["type"] in (AUTHORITY, SIGNED) and not resource.get("delete")
    ]
    found += _recovered(found)
    authorities = {
        text: of_urn(resource["urn"])[1]
        for resource in found
        if resource["type"] == AUTHORITY and isinstance(text := _outputs(resource).get("certPem"), str)
    }
    made = [_row(resource, authorities) for resource in found]
    return sorted(made, key=lambda row: ("authority" not in row.uses, (row.ends or NEVER).date(), row.name))


def _recovered(found: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Authorities of a rebuilt cluster as if they were resources: they stand in what they signed alone."""
    made = [_outputs(resource).get("certPem") for resource in found if resource["type"] == AUTHORITY]
    signers = [_outputs(resource).get("caCertPem") for resource in found]
    for text in dict.fromkeys(text for text in signers if isinstance(text, str) and text not in made):
        try:
            subject = common_name(x509.load_pem_x509_certificate(text.encode()).subject)
        except ValueError:
            continue
        if name := AUTHORITY_NAME.search(subject):
            yield {"type": AUTHORITY, "urn": f"::::{AUTHORITY}::{name[0]}", "outputs": {"certPem": text}}


def _outputs(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    outputs: Mapping[str, Any] = resource.get("outputs") or {}
    return outputs


def _row(resource: Mapping[str, Any], authorities: Mapping[str, str]) -> Row:
    name, outputs = of_urn(resource["urn"])[1], _outputs(resource)
    signer = outputs.get("caCertPem")
    try:
        certificate = x509.load_pem_x509_certificate(str(outputs.get("certPem")).encode())
    except ValueError:
        return Row(name, "", (), "", (), None, None, None)
    authority = authorities.get(signer, "") if isinstance(signer, str) else ""
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    is_authority = _is_authority(certificate)
    early = outputs.get("earlyRenewalHours") or 0
    renewal = ends - AUTHORITY_LEAD if is_authority else ends - timedelta(hours=early) if early else None
    uses = ("authority",) if is_authority else tuple(_uses(certificate))
    by = authority or ("itself" if resource["type"] == AUTHORITY else common_name(certificate.issuer))
    return Row(name, by, uses, common_name(certificate.subject), tuple(_names(certificate)), begins, ends, renewal)


def common_name(name: x509.Name) -> str:
    """The common name, or the whole where there is none."""
    found = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else name.rfc4514_string()


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _uses(certificate: x509.Certificate) -> Iterator[str]:
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return
    yield from (USES.get(use, use.dotted_string) for use in usage)


def _names(certificate: x509.Certificate) -> Iterator[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    yield from (str(name.value) for name in names)


def unsound(found: Sequence[Row], now: datetime) -> list[Row]:
    """Those that need somebody: expired, due for renewal, or not to be read."""
    return [row for row in found if row.verdict(now) != "sound"]


def remedies(cluster: str, unsound: list[Row], now: datetime) -> list[str]:
    """What to run, for authorities and for certificates."""
    authorities = [row.name for row in unsound if "authority" in row.uses]
    others = [row.name for row in unsound if "authority" not in row.uses and row.verdict(now) != "unreadable"]
    unread = [row.name for row in unsound if row.verdict(now) == "unreadable"]
    lines = []
    if others:
        lines.append(
            f"{len(others)} to renew: `landbridge up --refresh {cluster}` makes them anew, "
            f"`landbridge cluster roll {cluster}` brings them to the machines."
        )
    if authorities:
        lines.append(f"{', '.join(authorities)}: `landbridge pki rotate {cluster}` puts a successor in place.")
    if unread:
        lines.append(f"{', '.join(unread)}: the state has no certificate there. `landbridge up {cluster}` makes it.")
    return lines
