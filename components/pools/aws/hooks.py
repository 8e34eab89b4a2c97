"""The pause between the decision that a machine goes and its end, in which its node is put away."""

import json

# Whoever ends the pause when all is done; without it the pause ends by itself.
COMPLETER = "landbridge-autoscaler"
# As long as the autoscaler lets pods take to end (its --max-graceful-termination-sec).
SECONDS = 600
TERMINATION = {
    "name": "put-away",
    "lifecycle_transition": "autoscaling:EC2_INSTANCE_TERMINATING",
    # A machine that nobody puts away goes all the same: it is paid for until then.
    "default_result": "CONTINUE",
    "heartbeat_timeout": SECONDS,
    "notification_metadata": json.dumps({"completer": COMPLETER}),
}
