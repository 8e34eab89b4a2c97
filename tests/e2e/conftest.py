"""Saved worlds that several files begin with."""

from tests.support import saved
from tests.support.cloud import Cloud

from .worlds import IN_AWS, IN_AZURE


def up(cloud: Cloud) -> None:
    cloud.run("up", "--local", "--yes", seconds=900)


in_aws = saved.world("in-aws", up, IN_AWS)
in_azure = saved.world("in-azure", up, IN_AZURE)
