"""Every store of Pulumi's state takes what may encrypt secrets in it, and nothing else."""

from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.loader import load
from fleet.state import CLOUD, DEFAULT, KEYS, PASSPHRASE, STORES

SMALLEST = (Path(__file__).parent / "good/smallest.yaml").read_text()
BACKENDS = {
    CLOUD: ("https://api.pulumi.com", "https://pulumi.example.com:8443/"),
    "s3": ("s3://example-state", "s3://example-state/folder?region=us-west-2&awssdk=v2"),
    "gs": ("gs://example-state",),
    "azblob": ("azblob://state?storage_account=examplestate",),
    "file": ("file:///srv/state", "file://~", "file://~/state?no_tmp_dir=true"),
}
PAIRS = [(kind, url, by) for kind, urls in BACKENDS.items() for url in urls for by in (DEFAULT, PASSPHRASE, *KEYS)]


def test_every_store_is_tried() -> None:
    assert set(BACKENDS) == set(STORES)


@pytest.mark.parametrize(("kind", "url", "by"), PAIRS)
def test_what_encrypts_secrets_fits_the_store(kind: str, url: str, by: str, tmp_path: Path) -> None:
    organization = ", organization: example" if kind == CLOUD else ""
    state = f'state: {{backend: "{url}", secrets: "{KEYS.get(by, by)}"{organization}}}\n'
    (tmp_path / "fleet.yaml").write_text(SMALLEST + state)
    if by in STORES[kind].secrets:
        assert load(tmp_path / "fleet.yaml").state
        return
    with pytest.raises(FleetError, match=r"fleet\.yaml:\d+: state lies in") as caught:
        load(tmp_path / "fleet.yaml")
    assert len(caught.value.problems) == 1
