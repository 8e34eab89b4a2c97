"""A cluster's keys and certificates as resources: made by the tls and random providers, the same on every cloud."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict

import pulumi
import pulumi_random as random
import pulumi_tls as tls

from .bundle import Material
from .machines import ClusterSpec, Machine
from .pki import (
    AUTHORITIES,
    AUTHORITY_HOURS,
    CERTIFICATE_HOURS,
    RENEWAL_HOURS,
    SERVICE_ACCOUNTS,
    TRUST,
    Certificate,
    Generations,
    certificates,
)
from .rotation import ENCRYPTION

CURVE, RSA_BITS, ENCRYPTION_BYTES = "P256", 2048, 32
Text = pulumi.Output[str]
Made = pulumi.Output[Material]


class Pair(NamedTuple):
    """A certificate (or public key) and its private key as PEM; the private one is a secret."""

    public: Text
    private: Text


class Recovered(NamedTuple):
    """Keys of an earlier life of the cluster: the JSON that `recovery` made then, and which generations are in it."""

    text: Text
    generations: Mapping[str, Collection[int]]

    def has(self, subject: str, number: int) -> bool:
        return number in self.generations.get(subject, ())


class AuthorityArgs(TypedDict):
    """`generations` of every key, see rotation.all_generations. Those that were `recovered` are not made anew."""

    spec: ClusterSpec
    generations: dict[str, Generations]
    recovered: NotRequired[Recovered | None]


class Authority(pulumi.ComponentResource):
    """All authorities of a cluster, its service accounts' key, its encryption key and the key that signs manifests.

    They are protected: with another authority, or another key of the service accounts, nothing that runs trusts
    anything any more. `landbridge pki rotate` adds the next generation beside the one in use instead. Recovered ones
    are no resources: they stay where they were kept. `life` and the key that signs manifests are new in every life.
    """

    def __init__(self, name: str, args: AuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:Authority", name, None, opts)
        self.spec, self.generations, self.recovered = args["spec"], args["generations"], args.get("recovered")
        self.child = pulumi.ResourceOptions(parent=self)
        self.protected = pulumi.ResourceOptions(parent=self, protect=True)
        self.pairs: dict[str, dict[int, Pair]] = {
            authority: {number: self._authority(authority, number) for number in self.generations[authority].trusted}
            for authority in AUTHORITIES
        }
        self.service_accounts = {
            number: self._service_accounts(number) for number in self.generations[SERVICE_ACCOUNTS].trusted
        }
        self.encryption = {number: self._encryption(number) for number in self.generations[ENCRYPTION].trusted}
        # Tells this life of the cluster from any other one of its name.
        self.life = random.RandomId("birth", byte_length=4, opts=self.protected).hex
        self.signing = self._pair("manifests", "ED25519")
        # The body of a public key's PEM is base64 of its DER form.
        self.verify_key = self.signing.public.apply(lambda pem: "".join(pem.strip().splitlines()[1:-1]))
        self.register_outputs({})

    def trusted(self, authority: str) -> Text:
        """Certificates of the authority, one after the other, the signing one first."""
        pairs, ordered = self.pairs[authority], self.generations[authority].ordered
        return _pem_bundle([pairs[number].public for number in ordered])

    def public_keys(self) -> Text:
        """Public keys that service accounts' tokens are checked against."""
        ordered = self.generations[SERVICE_ACCOUNTS].ordered
        return _pem_bundle([self.service_accounts[number].public for number in ordered])

    def certificate(self, wish: Certificate, parent: pulumi.Resource) -> Pair:
        """A key pair with its certificate, which is made anew when 90 days are left: in a refresh, never by itself.

        With the authority's next generation the key is new, too: a rotation ends what leaked with it.
        """
        child = pulumi.ResourceOptions(parent=parent)
        number = self.generations[wish.authority].signing
        authority = self.pairs[wish.authority][number]
        name = wish.name if number == 1 else f"{wish.name}-{number}"
        key = tls.PrivateKey(name, algorithm="ECDSA", ecdsa_curve=CURVE, opts=child)
        request = tls.CertRequest(
            wish.name,
            private_key_pem=key.private_key_pem,
            subject=tls.CertRequestSubjectArgs(common_name=wish.common_name, organization=wish.organization or None),
            dns_names=list(wish.hosts) or None,
            ip_addresses=list(wish.addresses) or None,
            opts=child,
        )
        signed = tls.LocallySignedCert(
            wish.name,
            cert_request_pem=request.cert_request_pem,
            ca_cert_pem=authority.public,
            ca_private_key_pem=authority.private,
            validity_period_hours=CERTIFICATE_HOURS,
            early_renewal_hours=RENEWAL_HOURS,
            allowed_uses=["digital_signature", *wish.uses],
            opts=child,
        )
        return Pair(signed.cert_pem, key.private_key_pem)

    def material(self, machine: Machine, parent: pulumi.Resource) -> tuple[Made, Made]:
        """What one machine's bundle is made from: without private keys, which is no secret, and with them.

        Only what this machine needs, so that another one's renewed certificate leaves its bundle known in a preview.
        """
        pairs = {wish.name: self.certificate(wish, parent) for wish in certificates(self.spec, machine)}
        trusts = TRUST[machine.role]
        number = self.generations[SERVICE_ACCOUNTS].signing
        public = {
            "authorities": {trust.authority: self.trusted(trust.authority) for trust in trusts},
            "certificates": {name: pair.public for name, pair in pairs.items()},
        }
        signers = {trust.authority: self.generations[trust.authority].signing for trust in trusts if trust.key}
        api = machine.role == "api"
        accounts = self.public_keys() if api else ""
        open_ = pulumi.Output.all(
            **public,
            authority_keys=dict.fromkeys(signers, ""),
            keys=dict.fromkeys(pairs, ""),
            service_accounts=[accounts, ""],
            encryption_keys={},
        )
        whole = pulumi.Output.all(
            **public,
            authority_keys={name: self.pairs[name][n].private for name, n in signers.items()},
            keys={name: pair.private for name, pair in pairs.items()},
            service_accounts=[accounts, self.service_accounts[number].private if api else ""],
            encryption_keys={str(n): self.encryption[n] for n in self.generations[ENCRYPTION].ordered if api},
        )
        return open_.apply(_material), whole.apply(_material)

    def recovery(self) -> Text:
        """JSON of all keys without which a snapshot of the cluster is worth little, and of who issued its tokens."""
        material = {
            "issuer": self.spec.issuer,
            "authorities": {
                name: {str(number): {"crt": pair.public, "key": pair.private} for number, pair in pairs.items()}
                for name, pairs in self.pairs.items()
            },
            "service_accounts": {
                str(number): {"pub": pair.public, "key": pair.private} for number, pair in self.service_accounts.items()
            },
            "encryption": {str(number): key for number, key in self.encryption.items()},
        }
        return pulumi.Output.from_input(material).apply(json.dumps)

    def _authority(self, authority: str, number: int) -> Pair:
        if self.recovered and self.recovered.has(authority, number):
            return _found(self.recovered, lambda secrets: secrets["authorities"][authority][str(number)], "crt")
        key = tls.PrivateKey(f"{authority}-{number}", algorithm="ECDSA", ecdsa_curve=CURVE, opts=self.protected)
        made = tls.SelfSignedCert(
            f"{authority}-{number}",
            private_key_pem=key.private_key_pem,
            subject={"common_name": f"{self.spec.name}-{authority}-{number}"},
            is_ca_certificate=True,
            set_subject_key_id=True,
            validity_period_hours=AUTHORITY_HOURS,
            allowed_uses=["cert_signing", "crl_signing", "digital_signature"],
            opts=self.protected,
        )
        return Pair(made.cert_pem, key.private_key_pem)

    def _service_accounts(self, number: int) -> Pair:
        if self.recovered and self.recovered.has(SERVICE_ACCOUNTS, number):
            return _found(self.recovered, lambda secrets: secrets["service_accounts"][str(number)], "pub")
        return self._pair(f"{SERVICE_ACCOUNTS}-{number}", "RSA")

    def _encryption(self, number: int) -> Text:
        if self.recovered and self.recovered.has(ENCRYPTION, number):
            key: Text = self.recovered.text.apply(lambda text: str(json.loads(text)["encryption"][str(number)]))
            return key
        made: Text = random.RandomBytes(f"{ENCRYPTION}-{number}", length=ENCRYPTION_BYTES, opts=self.protected).base64
        return made

    def _pair(self, name: str, algorithm: str) -> Pair:
        bits = RSA_BITS if algorithm == "RSA" else None
        key = tls.PrivateKey(name, algorithm=algorithm, rsa_bits=bits, opts=self.protected)
        return Pair(key.public_key_pem, key.private_key_pem)


def _found(recovered: Recovered, pick: Callable[[Any], Any], public: str) -> Pair:
    """A pair out of recovered keys. Its public half is no secret: trust files and stack outputs have it."""
    recovered_pair: pulumi.Output[Any] = recovered.text.apply(lambda text: pick(json.loads(text)))
    open_: Text = pulumi.Output.unsecret(recovered_pair.apply(lambda pair: str(pair[public])))
    return Pair(open_, recovered_pair.apply(lambda pair: str(pair["key"])))


def _pem_bundle(pems: list[Text]) -> Text:
    return pulumi.Output.all(*pems).apply("".join)


def _material(given: dict[str, object]) -> Material:
    accounts, keys = given.pop("service_accounts"), given.pop("encryption_keys")
    assert isinstance(accounts, list)
    assert isinstance(keys, dict)
    numbered = {int(number): key for number, key in keys.items()}
    return Material(**given, service_accounts=tuple(accounts), encryption_keys=numbered)  # type: ignore[arg-type]
