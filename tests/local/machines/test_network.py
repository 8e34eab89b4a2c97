"""What the kernel or the system refuses is told in words, with what to do."""

from pathlib import Path

import pytest

from local.machines import network


@pytest.mark.parametrize(
    ("command", "package"),
    [(["nft", "-f", "-"], "nftables"), (["ip", "link"], "iproute2"), (["nsenter", "--net", "nft"], "util-linux")],
)
def test_a_missing_program_is_named_with_its_package(
    command: list[str], package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(network, "SYSTEM", "")
    with pytest.raises(
        network.NetworkError, match=f"The command {command[0]} is missing. Install the package {package}"
    ):
        network.run(command)


def test_so_is_one_that_another_program_was_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nsenter").symlink_to("/usr/bin/nsenter")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(network, "SYSTEM", "")
    with pytest.raises(network.NetworkError, match=r"The command nft is missing\. Install the package nftables"):
        network.run(["nsenter", "--target=1", "nft", "-f", "-"])


def test_what_the_kernel_says_is_told_with_what_was_asked() -> None:
    with pytest.raises(network.NetworkError, match=r"(?s)no-such-card.*of: link set no-such-card up"):
        network.batch(["link set no-such-card up"])
