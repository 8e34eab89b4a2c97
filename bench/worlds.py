"""What it costs to keep a cloud's world: the CPU of a local AWS that keeps it against one that does not.

Both get the same calls, a fleet's growing and shrinking with looks between; then the one that keeps is killed, and the
CPU of its start on what lies there stands against that of a start on nothing and against that of the calls.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from local.providers.host import free_port
from tests.local.worlds.support import Server

ROUNDS, REGIONS = 60, ("us-west-2", "eu-west-1")


class Aws(Server):
    def cpu_seconds(self) -> float:
        """Its own, since it began."""
        assert self.process
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def client(self, service: str, region: str) -> Any:
        keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
        config = Config(retries={"total_max_attempts": 1})
        return boto3.client(service, region_name=region, endpoint_url=self.url, config=config, **keys)


@contextmanager
def aws(folder: Path, *, keeps: bool) -> Iterator[Aws]:
    port = free_port()
    home = ("--home", str(folder / "home"), "--tls", f"127.0.0.1:{free_port()}") if keeps else ()
    server = Aws(["local.aws.server", "--port", str(port), *home], f"http://127.0.0.1:{port}", folder / "log")
    server.start()
    try:
        yield server
    finally:
        server.kill()


def work(server: Aws) -> float:
    """The CPU seconds of the calls, once each region's first call has made what every region has."""
    clients = [server.client("ec2", region) for region in REGIONS]
    images = [ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"] for ec2 in clients]
    begun = server.cpu_seconds()
    for number in range(ROUNDS):
        for ec2, image in zip(clients, images, strict=True):
            made = ec2.run_instances(ImageId=image, InstanceType="m5.large", MinCount=1, MaxCount=3)["Instances"]
            ids = [one["InstanceId"] for one in made]
            ec2.create_tags(Resources=ids, Tags=[{"Key": "round", "Value": str(number)}])
            for _ in range(3):
                ec2.describe_instances(InstanceIds=ids)
            ec2.describe_subnets()
            ec2.describe_security_groups()
            ec2.terminate_instances(InstanceIds=ids[:1])
    return server.cpu_seconds() - begun


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        folder = Path(name)
        with aws(folder, keeps=False) as server:
            without = work(server)
        with aws(folder, keeps=True) as server:
            empty = server.cpu_seconds()
            kept = work(server)
            server.kill()
            begun = time.monotonic()
            server.start()
            took, again = time.monotonic() - begun, server.cpu_seconds()
        files = sum(file.stat().st_size for file in (folder / "home/worlds").rglob("*")) >> 20
    calls = ROUNDS * len(REGIONS) * 8
    sys.stdout.write(f"{calls} calls: {without:.1f} s of CPU, kept {kept:.1f} s: {kept / without:.2f} times as much\n")
    sys.stdout.write(f"a start on {files} MiB of it: {again:.1f} s of CPU, on nothing {empty:.1f} s ({took:.1f} s)\n")


if __name__ == "__main__":
    main()
