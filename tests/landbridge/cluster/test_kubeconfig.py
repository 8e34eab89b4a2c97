"""What stands in a kubeconfig, who may read it, and that it works: the way past DNS and balancer, too."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from landbridge.clouds.aws.cloud import Aws
from landbridge.cluster import kubeconfig
from landbridge.cluster.kubeconfig import Credential
from landbridge.commands.kubeconfig import hand_out
from landbridge.errors import LandbridgeError, UsageError
from tests.landbridge.bed import Bed


def test_each_machine_answers_by_its_address_alone_under_the_endpoints_name(bed: Bed) -> None:
    for machine in bed.info.api:
        told = json.loads(kubeconfig.kubeconfig(bed.info, bed.break_glass, machine))["clusters"][0]["cluster"]
        assert told["server"] == f"https://{machine.address}:6443"
        assert f"https://{told['tls-server-name']}:6443" == bed.info.endpoint
    bed.until_ready()


def test_the_one_for_everyday_goes_through_the_endpoint(bed: Bed) -> None:
    bed.until_ready("main-api-1")
    assert bed.kube(None).ready


def test_another_authoritys_certificate_opens_nothing(bed: Bed) -> None:
    bed.until_ready("main-api-1")
    foreign = Credential("x", bed.made.certificates["main-etcd-1-operator"], bed.made.keys["main-etcd-1-operator"])
    said = bed.kube("main-api-1", foreign).run("get", "nodes")
    assert said.code != 0
    assert "Unauthorized" in said.err or "must be logged in" in said.err


def test_only_the_owner_may_read_it_even_in_place_of_one_that_all_could(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("old")
    file.chmod(0o644)
    hand_out("new", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_place_that_can_not_be_written_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere/config cannot be written: No such file.*--output"):
        hand_out("text", tmp_path / "nowhere/config")


def test_no_key_reaches_the_terminal_unless_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_out("SECRET", tmp_path / "config")
    said = capsys.readouterr()
    assert "SECRET" not in said.out + said.err
    assert said.out == ""
    hand_out("SECRET", Path("-"))
    assert capsys.readouterr().out == "SECRET"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "GetSecretValue"),
            "GetSecretValue",
        ),
        ({"SecretString": "{broken"}, "was changed by hand"),
        ({"SecretString": '{"crt": "x"}'}, "KeyError: 'key'"),
    ],
)
def test_a_credential_that_can_not_be_read_says_what_is_needed(bed: Bed, answer: Any, why: str) -> None:
    class Secrets:
        def get_secret_value(self, **_given: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises(LandbridgeError, match=why) as error:
        kubeconfig.admin(Aws(lambda _service: Secrets(), "us-west-2"), bed.info)
    assert bed.info.admin_secret in str(error.value)
