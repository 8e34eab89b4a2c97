"""A cluster's keys as resources: which are made, which come from an earlier life, and which are new after a rotation."""

import asyncio
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.control_plane.authority import Authority, Recovered
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.pki import AUTHORITIES, SERVICE_ACCOUNTS, Generations, admin
from components.control_plane.rotation import ENCRYPTION, SUBJECTS, all_generations, wanted
from fleet.rebuilds import Origin
from fleet.world import current

ROOT = Path(__file__).parents[3]
ONCE, TWICE = dict.fromkeys(SUBJECTS, (1,)), Generations((1, 2), 2)


class Mocks(pulumi.runtime.Mocks):
    """Outputs that name their resource."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.made.append((args.typ, args.name))
        names = ("certPem", "privateKeyPem", "publicKeyPem", "base64", "hex", "certRequestPem")
        return "id", {**args.inputs, **{name: f"{name} of {args.name}\n" for name in names}}

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        return {}

    def names(self, kind: str) -> set[str]:
        return {name for type_, name in self.made if type_.endswith(kind)}


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    world = current(ROOT / "fleet.yaml")
    return cluster_spec(world.fleet, world.plan, "main")


def kept(generations: Mapping[str, Collection[int]]) -> str:
    """A recovery secret of an earlier life."""
    return json.dumps(
        {
            "issuer": "https://old",
            "authorities": {
                name: {
                    str(n): {"crt": f"old crt {name} {n}\n", "key": f"old key {name} {n}\n"} for n in generations[name]
                }
                for name in AUTHORITIES
            },
            "service_accounts": {
                str(n): {"pub": f"old pub {n}\n", "key": f"old key {n}\n"} for n in generations[SERVICE_ACCOUNTS]
            },
            "encryption": {str(n): f"old encryption {n}" for n in generations[ENCRYPTION]},
        }
    )


def build(
    spec: ClusterSpec, at: dict[str, Generations], generations: Mapping[str, Collection[int]] | None = None
) -> tuple[Mocks, dict[str, Any]]:
    """What is made, and what of it goes where. Each as [value, whether it is secret]."""
    mocks, found = Mocks(), {}

    async def program() -> None:
        pulumi.runtime.set_mocks(mocks, project="landbridge", stack="main")
        recovered = generations and Recovered(pulumi.Output.secret(kept(generations)), generations)
        made = Authority("authority", {"spec": spec, "generations": at, "recovered": recovered or None})
        leaf = made.certificate(admin(spec), made)
        outputs = {
            "trusted": made.trusted("kubernetes"),
            "accounts": made.public_keys(),
            "signer": made.service_accounts[at[SERVICE_ACCOUNTS].signing].private,
            "encryption": made.encryption[at[ENCRYPTION].signing],
            "recovery": made.recovery(),
            "leaf": leaf.private,
            "certificate": leaf.public,
            "birth": made.life,
        }
        for name, output in outputs.items():
            found[name] = [await output.future(), await output.is_secret()]

    asyncio.run(program())
    return mocks, found


def test_a_cluster_that_was_born_here_makes_every_key(spec: ClusterSpec) -> None:
    mocks, found = build(spec, all_generations({}))
    numbered = {f"{name}-1" for name in AUTHORITIES}
    assert mocks.names("SelfSignedCert") == numbered
    assert mocks.names("RandomBytes") == {"encryption-1"}
    assert mocks.names("PrivateKey") == numbered | {"service-accounts-1", "manifests", "main-admin"}
    told = json.loads(found["recovery"][0])
    assert told["issuer"] == spec.issuer
    assert set(told["authorities"]) == set(AUTHORITIES)
    assert set(told["authorities"]["kubernetes"]["1"]) == {"crt", "key"}
    assert set(told["service_accounts"]["1"]) == {"pub", "key"}
    assert set(told["encryption"]) == {"1"}


def test_keys_of_an_earlier_life_are_taken_over_and_what_is_new_in_each_life_is_made(spec: ClusterSpec) -> None:
    mocks, found = build(spec, all_generations({}), ONCE)
    assert mocks.names("SelfSignedCert") == mocks.names("RandomBytes") == set()
    assert mocks.names("PrivateKey") == {"manifests", "main-admin"}
    assert mocks.names("RandomId") == {"birth"}
    assert found["trusted"] == ["old crt kubernetes 1\n", False]
    assert found["accounts"] == ["old pub 1\n", False]
    assert found["signer"] == ["old key 1\n", True]
    assert found["encryption"] == ["old encryption 1", True]
    text, secret = found["recovery"]
    assert secret
    assert json.loads(text) == {**json.loads(kept(ONCE)), "issuer": spec.issuer}


def test_a_generation_after_the_rebuild_is_made_and_trusted_beside_the_recovered_one(spec: ClusterSpec) -> None:
    at = {**all_generations({}), "kubernetes": TWICE}
    mocks, found = build(spec, at, ONCE)
    assert mocks.names("SelfSignedCert") == {"kubernetes-2"}
    assert found["trusted"] == ["certPem of kubernetes-2\nold crt kubernetes 1\n", False]
    assert set(json.loads(found["recovery"][0])["authorities"]["kubernetes"]) == {"1", "2"}


def test_only_what_the_secret_holds_comes_from_it(spec: ClusterSpec) -> None:
    at = {**all_generations({}), ENCRYPTION: Generations((3,), 3)}
    mocks, _ = build(spec, at, {**ONCE, ENCRYPTION: (2,)})
    assert mocks.names("RandomBytes") == {"encryption-3"}


def test_a_certificate_of_an_authority_s_next_generation_has_a_key_of_its_own(spec: ClusterSpec) -> None:
    for at, name in ((Generations(), "main-admin"), (Generations((1, 2), 1), "main-admin"), (TWICE, "main-admin-2")):
        mocks, found = build(spec, {**all_generations({}), "kubernetes": at})
        assert {key for key in mocks.names("PrivateKey") if "admin" in key} == {name}
        assert found["leaf"][0] == f"privateKeyPem of {name}\n"
        # The request and the certificate are made anew by themselves, under their names.
        assert mocks.names("CertRequest") == mocks.names("LocallySignedCert") == {"main-admin"}


def test_the_secret_is_read_as_long_as_one_of_its_keys_is_trusted() -> None:
    texts = dict.fromkeys(("lost", "region", "secret", "snapshot", "issuer"), "text")
    origin = Origin(**texts, generations=ONCE)
    later = {subject: Generations((2,), 2) for subject in SUBJECTS}
    assert wanted(origin, all_generations({}))
    assert wanted(origin, {**later, ENCRYPTION: TWICE})
    assert not wanted(origin, later)
