"""What the server keeps of moto's look-ups is what moto itself finds."""

import subprocess
import sys

TOLD = """
import moto.backends, moto.core.responses as responses
from moto.ec2.responses import EC2Response
from moto.iam.responses import IamResponse
def found():
    return sorted(moto.backends.list_of_moto_modules()), *map(responses.method_names_from_class, (EC2Response, IamResponse))
from local.aws.extensions import lookups
before = found()
lookups.install()
assert found() == found() == before, "the same, and again"
assert found()[1] is found()[1], "found once"
print(len(before[0]), len(before[1]))
"""


def test_they_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", TOLD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(int(count) > 100 for count in done.stdout.split())
