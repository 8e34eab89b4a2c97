"""TensorBoard beside the first host of a run: a sidecar from the run's own image. Pure.

Every host has one, as hosts are alike, and those of other hosts sleep. None ever fails: a pod is as ready as its
sidecars are, and nobody's training should end by its pictures.
"""

from typing import Any

PORT = 6006
NAME, FOLDER, VARIABLE = "tensorboard", "/tensorboard", "TENSORBOARD_DIR"
AGAIN_SECONDS = 10
# As process 1 a shell ends by SIGTERM only if it says so, and hears it only while it waits.
SERVES = f"""\
trap exit TERM
while [ "$RUN_RANK" != 0 ]; do sleep 3600 & wait $!; done
mkdir -p "${VARIABLE}"
while :; do
  tensorboard --logdir "${VARIABLE}" --host 0.0.0.0 --port {PORT} & wait $!
  echo "landbridge: TensorBoard has ended, or this image has none: again in {AGAIN_SECONDS} s" >&2
  sleep {AGAIN_SECONDS} & wait $!
done
"""


def sidecar(image: str, variables: list[dict[str, Any]], shown: str, mounts: list[dict[str, Any]]) -> dict[str, Any]:
    """`variables` say who the host is, and what people set."""
    return {
        "name": NAME,
        "image": image,
        "restartPolicy": "Always",
        "command": ["sh", "-c", SERVES],
        "env": [*variables, {"name": VARIABLE, "value": shown}],
        "volumeMounts": mounts,
    }
