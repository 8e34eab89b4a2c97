"""Parts of runs' pods: which pods they are, their programs, their fields, and the names by which they are found."""

from pathlib import Path
from typing import Any

import pytest

from components.addons import flannel, kube_proxy, manifests
from local.machines.commands import PATH
from local.workers import environment, fields, images, names, overlay, shares, tokens
from tests.local.workers.real_pods import container, pod
from tests.local.workers.runs import INDEX, run_pod, share


def known(made: dict[str, Any]) -> dict[str, Any]:
    """As the kubelet hears of it."""
    made["metadata"] |= {"namespace": "default", "uid": "u"}
    return made


def test_a_run_s_pod_is_real_whatever_its_images_but_for_crowds() -> None:
    made = run_pod("one", "node", ["true"])
    assert images.real(made)
    crowd = run_pod("one", "node", ["true"])
    crowd["metadata"]["annotations"] |= {images.RUNS_FOR: "1h"}
    assert not images.real(crowd)
    other = pod("one", "node", {"name": "main", "image": "registry.example.com/train:1"})
    assert not images.real(other)
    status = {"name": "main", "imageID": "local://registry.example.com/train"}
    assert images.real({**crowd, "status": {"containerStatuses": [status]}}), "it has begun"
    assert not images.real({**crowd, "status": {"containerStatuses": [{**status, "imageID": ""}]}}), "kwok's"


def test_a_run_s_program_is_any_of_the_machine_s_and_must_be_named() -> None:
    made = run_pod("one", "node", ["torchrun", "train.py"])
    assert fields.refusals(made) == []
    assert images.missing(made) == {}
    assert images.program(made["spec"]["containers"][0]["image"], "torchrun") == "torchrun"
    assert images.program("localhost/landbridge-services:1", "python3") == images.PYTHON
    # The table's images go on as they do.
    made["spec"]["containers"].append({**container("beside", ""), "command": ["torchrun"]})
    assert fields.refusals(made) == ["container beside: its command must begin with python3"]
    for nothing in ({}, {"command": []}, {"command": [""]}, {"args": ["train.py"]}):
        made["spec"]["containers"] = [{"name": "main", "image": "registry.example.com/train:1", **nothing}]
        (why,) = fields.refusals(made)
        assert why == "container main: its command must be given: no image is fetched, so nobody knows the image's own"


def test_a_run_s_container_can_write_its_home_and_finds_python() -> None:
    made = known(run_pod("one", "node", ["true"]))
    given = environment.given(made, made["spec"]["containers"][0]["image"], root=True)
    assert given["HOME"] == "/tmp"
    assert given["PATH"] == images.OWN_PATH
    assert given["PATH"].endswith(f":{PATH}")
    assert "PYTHONPATH" not in given, "what services of ours need is no concern of a run's"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (INDEX, "3"),
        ("metadata.labels['landbridge.dev/run']", "night"),
        ("metadata.labels['nobody']", ""),
        ("status.podIP", "10.64.0.126"),
        ("status.hostIPs", "192.0.2.7"),
    ],
)
def test_what_controllers_note_on_a_pod_becomes_a_variable(path: str, value: str) -> None:
    made = known(run_pod("one", "node", ["true"], index=3))
    one = {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    made["spec"]["containers"][0]["env"] = [one]
    assert fields.refusals(made) == []
    found = environment.known_variables(
        made, made["spec"]["containers"][0], environment.Place("192.0.2.7", "10.64.0.126"), lambda *_: None
    )
    assert found["X"] == value


def test_a_field_of_another_form_is_refused() -> None:
    made = run_pod("one", "node", ["true"])
    one = {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}
    made["spec"]["containers"][0]["env"] = [one]
    (why,) = fields.refusals(made)
    assert why.endswith("'status.podIPs', metadata.annotations['KEY'], metadata.labels['KEY']")
    del made["spec"]["containers"][0]["env"]
    made["spec"] |= {"setHostnameAsFQDN": True, "shareProcessNamespace": True}
    assert fields.refusals(made) == [
        "spec.setHostnameAsFQDN: True is not honoured, only False",
        "spec.shareProcessNamespace is not honoured",
    ]


def test_a_pod_s_host_name_is_the_one_that_it_asks_for() -> None:
    made = known(run_pod("night-worker-0-0-x7k2p", "node", ["true"], hostname="night-worker-0-0", subdomain="night"))
    assert fields.refusals(made) == []
    assert environment.host_name(made) == "night-worker-0-0"
    assert environment.host_name(known(run_pod("night-x7k2p", "node", ["true"]))) == "night-x7k2p"


def endpoint(host: str, *addresses: str, **more: Any) -> dict[str, Any]:
    return {"hostname": host, "addresses": list(addresses), **more}


def test_peers_are_those_whom_the_cluster_s_dns_would_name() -> None:
    slices = [
        {
            "endpoints": [
                endpoint("night-0", "192.0.2.7"),
                endpoint("night-1", "192.0.2.8", conditions={"ready": False}),
            ]
        },
        {"endpoints": [endpoint("night-2", "192.0.2.9", conditions={"ready": True}), {"addresses": ["192.0.2.10"]}]},
        {"endpoints": None},
    ]
    found = names.peers(slices, "night", "team", "cluster.local")
    assert found == [
        "192.0.2.7\tnight-0.night.team.svc.cluster.local night-0.night.team.svc night-0.night.team night-0.night\n",
        "192.0.2.9\tnight-2.night.team.svc.cluster.local night-2.night.team.svc night-2.night.team night-2.night\n",
    ]
    alone = known(run_pod("one", "node", ["true"]))
    assert names.own(alone, "192.0.2.7", "cluster.local") == ["192.0.2.7\tone\n"]
    alone["spec"]["hostNetwork"] = True
    assert names.own(alone, "192.0.2.7", "cluster.local") == [], "it has the machine's"


def test_a_file_of_names_is_written_in_place_and_gets_no_shorter(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.touch()
    number = file.stat().st_ino
    for text, content in (("a\nbb\n", "a\nbb\n"), ("c\n", "c\n\n\n\n"), ("c\nd\ne\nf\n", "c\nd\ne\nf\n")):
        names.write(file, text)
        assert file.read_text() == content
    assert file.stat().st_ino == number


def test_the_accounts_whose_rights_it_takes_are_the_add_ons() -> None:
    assert (names.PROXY, overlay.FLANNEL) == (kube_proxy.ADDON, flannel.ADDON)
    assert tokens.SYSTEM == manifests.SPACE


def test_volumes_of_one_place_on_a_server_are_one_folder() -> None:
    volume, _ = share()
    other, _ = share("team-nlp")
    assert str(shares.place(volume)) == str(shares.place(other)) == "nfs/nfs.example.com/export/data"
    attributes = volume["spec"]["csi"]["volumeAttributes"]
    attributes["share"] += "/part"
    assert shares.place(volume).is_relative_to(shares.place(other))
    attributes["share"] = "/export/../../etc"
    with pytest.raises(environment.Lacking, match=r"'main.default.data' names no server with a share"):
        shares.place(volume)
    volume["spec"]["csi"] = {"driver": "efs.csi.aws.com", "volumeHandle": "fs-1:/../x:fsap-2"}
    assert str(shares.place(volume)) == "efs.csi.aws.com/volume-fs-1:%2F..%2Fx:fsap-2"
    del volume["spec"]["csi"]
    with pytest.raises(environment.Lacking, match="csi alone"):
        shares.place(volume)
