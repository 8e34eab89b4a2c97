"""That an update of a scale set which would size it is an error."""

import pytest

from components.pools.azure.capacity import SizeError, checked


def test_the_size_that_a_set_has_may_be_written() -> None:
    checked("test-gpu-1", 4, 4)


@pytest.mark.parametrize("said", [0, 3, 5])
def test_any_other_size_is_an_error_that_says_what_to_do(said: int) -> None:
    with pytest.raises(
        SizeError, match=rf"test-gpu-1 .* has 4 machines, and this run would make it {said}\. .*refresh"
    ):
        checked("test-gpu-1", said, 4)
