"""Experiments: a folder on a laptop becomes a run on GPUs, which waits in its team's queue and starts as a whole.

`Run` is the same from Python as in a run.yaml, so that a sweep is a loop:

    for rate in (1e-3, 3e-4):
        launch(Run(command=["python", "train.py", "--lr", str(rate)], gpus=8))
"""

from .api import launch
from .spec import Run

__all__ = ["Run", "launch"]
