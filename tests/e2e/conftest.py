"""Saved worlds that several files begin with."""

from tests.support import saved
from tests.support.cloud import Cloud

from .standing import bring_up
from .worlds import HYBRID, IN_AWS, IN_AZURE, IN_BOTH


def up(cloud: Cloud) -> None:
    cloud.run("up", "--local", "--yes", seconds=1200)


in_aws = saved.world("in-aws", up, IN_AWS)
in_azure = saved.world("in-azure", up, IN_AZURE)
in_all = saved.world("in-all", bring_up, HYBRID)
in_both = saved.world("in-both", up, IN_BOTH)
