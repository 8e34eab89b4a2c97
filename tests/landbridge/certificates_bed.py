"""What tests of certificates for laptops and for SSH ask a local cloud."""

from pathlib import Path

from tests.support.cloud import Cloud

OBJECT = 'print(client("s3", "{region}").get_object(Bucket="test-{region}-123456789012", Key="{key}")["Body"].read().decode())'
SECRET = 'print(client("secretsmanager", "{region}").get_secret_value(SecretId="test/{name}")["SecretString"])'


def stored(cloud: Cloud, region: str, key: str) -> str:
    """An object of the region's fleet bucket."""
    return cloud.python(OBJECT.format(region=region, key=key))


def secret(cloud: Cloud, region: str, name: str) -> str:
    return cloud.python(SECRET.format(region=region, name=name))


def refused(cloud: Cloud, *words: str, code: int = 2) -> str:
    """What a command says that does not do what it is asked."""
    done = cloud.run(*words, "--local", code=code)
    assert "Traceback" not in done.stderr
    return done.stderr


def empty(beside: Path) -> Path:
    """A folder for what commands write."""
    found = beside.parent / "here"
    found.mkdir(exist_ok=True)
    return found
