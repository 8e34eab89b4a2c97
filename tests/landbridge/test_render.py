"""What the screens say, on a terminal and without one."""

import io
from pathlib import Path

from pulumi.automation import EngineEvent
from rich.console import Console

from fleet.world import current
from landbridge import render
from landbridge.engine.stack_report import Problem, StackReport, Step
from landbridge.places import Place
from landbridge.up.progress import Screen
from tests.landbridge.events import step

ROOT = Path(__file__).parents[2]
SUBNET = "aws:ec2/subnet:Subnet"
PLACE = Place("local", Path("/p"), "file:///s", "passphrase", Path("/logs"))


def console(width: int = 100, *, terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, highlight=False, color_system=None)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def created(name: str) -> EngineEvent:
    return step("resOutputsEvent", "create", SUBNET, name, new={})


def report(*names: str) -> StackReport:
    made = StackReport("us-west-2")
    made.enter("update", total=3)
    for name in names:
        made.hear(created(name))
    return made


def test_the_summary_counts_by_what_was_done() -> None:
    done = report("a", "b")
    done.enter("done")
    screen = console()
    screen.print(render.summary([done]))
    header, line = text(screen).splitlines()
    assert header.split() == ["stack", "created", "updated", "replaced", "deleted", "same", "seconds"]
    assert line.split()[:8] == ["us-west-2", "✓", "done", "2", "0", "0", "0", "0"]


def test_an_address_that_has_to_agree_to_alarms_is_named_once_with_its_regions() -> None:
    reports = [StackReport("us-west-2"), StackReport("us-east-1")]
    for one in reports:
        one.enter("update", total=2)
        one.hear(created("a"))
        one.hear(step("resOutputsEvent", "create", render.SUBSCRIPTION, "ops@example.com", new={}))
        one.enter("done")
    told = "Alarms reach ops@example.com once it has agreed: AWS mails it a link for each of us-west-2, us-east-1."
    assert render.asked(reports) == [told]
    assert render.asked([report("a")]) == []


def test_a_skipped_stack_says_why() -> None:
    skipped = StackReport("links")
    skipped.because = "us-west-2 failed"
    skipped.enter("skipped")
    screen = console()
    screen.print(render.summary([skipped]))
    assert "skipped (us-west-2 failed)" in text(screen)


def test_few_changes_are_told_one_by_one_and_many_by_type() -> None:
    few = report()
    few.steps = [Step("created", SUBNET, "a", False, (), {}), Step("updated", SUBNET, "b", False, ("tags",), {})]
    screen = console()
    render.steps(few, screen)
    assert text(screen) == "  + ec2.Subnet a\n  ~ ec2.Subnet b  tags\n"

    few.steps = [Step("created", SUBNET, str(n), False, (), {}) for n in range(40)]
    few.steps.append(Step("deleted", SUBNET, "old", False, (), {}))
    screen = console()
    render.steps(few, screen)
    assert text(screen) == "  + 40 resources: 40 Subnet, …\n  - ec2.Subnet old\n"


def test_deletions_are_told_by_name_unless_all_goes() -> None:
    gone = report()
    gone.steps = [Step("deleted", SUBNET, str(n), False, (), {}) for n in range(40)]
    screen = console()
    render.steps(gone, screen)
    assert text(screen) == "  - 40 resources: 40 Subnet, …\n"
    gone.steps.append(Step("same", SUBNET, "kept", False, (), {}))
    screen = console()
    render.steps(gone, screen)
    assert text(screen).count("\n") == 40


def test_a_failure_names_resource_reason_and_log_and_stops_at_a_screenful() -> None:
    failed = report()
    failed.enter("failed")
    failed.problems = [Problem(SUBNET, f"s{n}", "InvalidSubnet.Conflict") for n in range(20)]
    screen = console()
    render.failures([failed], PLACE, screen)
    assert "us-west-2: ec2.Subnet s0: InvalidSubnet.Conflict" in text(screen)
    assert "and 12 more" in text(screen)
    assert "/logs/us-west-2.log" in text(screen)


def test_without_a_terminal_each_phase_is_a_line_with_the_time_and_notes_come_once() -> None:
    screen, notes = console(), ["The local cloud was restarted."]
    reports = {"us-west-2": StackReport("us-west-2")}
    shown = Screen(reports, notes, screen)
    with shown.shown():
        reports["us-west-2"].enter("preview")
        shown.lines.tell()
    with shown.shown():
        reports["us-west-2"].enter("failed")
    lines = text(screen).splitlines()
    assert [line.split(" ", 1)[1].split(",")[0] for line in lines] == [
        "The local cloud was restarted.",
        "us-west-2: preview",
        "us-west-2: failed",
    ]
    assert all(line[2] == line[5] == ":" for line in lines)


def test_on_a_terminal_a_stack_has_a_line_with_how_far_it_is() -> None:
    screen = console(terminal=True)
    busy = report("a", "b")
    busy.hear(step("resourcePreEvent", "create", SUBNET, "c", new={}))
    with Screen({"us-west-2": busy}, [], screen).shown():
        pass
    assert "us-west-2  update" in text(screen)
    assert "2/3" in text(screen)
    assert "ec2.Subnet c" in text(screen)


def test_a_narrow_terminal_keeps_one_line_a_stack() -> None:
    screen = console(60, terminal=True)
    busy = report("a")
    busy.current = "s3.BucketServerSideEncryptionConfiguration bucket"
    with Screen({"us-west-2": busy, "eu-west-1": busy}, [], screen).shown():
        pass
    first = text(screen).split("\x1b[2K")[0]
    assert all(len(line) <= 60 for line in first.replace("\x1b[?25l", "").splitlines())


def test_machines_read_every_stack_and_its_outputs() -> None:
    done = report("a")
    done.outputs = {"network_id": "vpc-1"}
    done.enter("done")
    (told,) = render.as_json([done], PLACE)
    assert told["result"] == "done"
    assert told["changes"]["created"] == 1
    assert told["outputs"] == {"network_id": "vpc-1"}
    assert "steps" not in told
    done.enter("waiting")
    (previewed,) = render.as_json([done], PLACE)
    assert previewed["result"] == "would-change"
    assert previewed["steps"][0]["name"] == "a"


def test_what_stacks_have_in_common_is_told_once() -> None:
    reports = [StackReport("us-west-2"), StackReport("eu-west-1"), StackReport("links")]
    for failed in reports:
        failed.enter("failed")
        failed.problems = [Problem("", "", "the local cloud is gone")]
    reports[2].problems = [Problem(SUBNET, "s", "InvalidSubnet.Conflict")]
    screen = console()
    render.failures(reports, PLACE, screen)
    said = text(screen)
    assert said.count("the local cloud is gone") == 1
    assert "us-west-2, eu-west-1: the local cloud is gone" in said
    assert "links: ec2.Subnet s: InvalidSubnet.Conflict" in said
    assert all(f"/logs/{report.stack}.log" in said for report in reports)


def test_what_stands_is_shown_whole_on_a_narrow_screen_and_failed_stacks_are_not() -> None:
    world, screen = current(ROOT / "fleet.yaml"), console(80)
    region, cluster, failed = StackReport("us-west-2"), StackReport("main"), StackReport("eu-west-1")
    region.outputs = {"network_cidr": "10.132.0.0/18", "network_id": "vpc-1", "share_ids": {"homes": "x", "data": "y"}}
    cluster.outputs = {"endpoint": "https://main.us-west-2.fleet.example.com:6443", "machines": {"main-api-1": {}}}
    failed.outputs = region.outputs
    for report, phase in ((region, "done"), (cluster, "unchanged"), (failed, "failed")):
        report.enter(phase)
    render.standing([region, cluster, failed], world, screen)
    said = text(screen)
    assert "data homes" in said
    assert "main.us-west-2.fleet.example.com:6443" in said
    assert world.plan.prefix("cluster/main") in said
    assert "eu-west-1" not in said


def test_where_laptops_come_in_is_shown() -> None:
    world, screen, report = current(ROOT / "fleet.yaml"), console(80), StackReport("us-west-2-laptops")
    server = {"address": "198.51.100.7", "pool_cidr": "10.132.64.0/24"}
    report.outputs = {"region": "us-west-2", "cluster": "main", "servers": {"vpn-1": server}}
    report.enter("done")
    render.standing([report], world, screen)
    (row,) = [line for line in text(screen).splitlines() if "vpn-1" in line]
    assert row.split() == ["us-west-2", "vpn-1", "198.51.100.7", "10.132.64.0/24", "main"]
    assert "landbridge vpn add" in text(screen)


def test_where_gateways_find_regions_is_shown() -> None:
    world, screen, links = current(ROOT / "fleet.yaml"), console(80), StackReport("links")
    one = {"gateway": "192.0.2.10", "site": "lab", "region": "us-west-2", "hub_addresses": {"a": "203.0.113.1"}}
    links.outputs = {"connections": {"us-west-2-lab-1": one}}
    links.enter("done")
    render.standing([links], world, screen)
    said = text(screen)
    assert "192.0.2.10 of lab" in said
    assert "203.0.113.1" in said
    assert "landbridge links check" in said
    without = console(80)
    links.outputs = {"connections": {}, "regions": ["us-west-2"]}
    render.standing([links], world, without)
    assert "link" not in text(without)
