"""What the recorder counts, as Prometheus reads it."""

from prometheus_client import Counter, Gauge

api_calls = Counter("landbridge_recorder_api_calls", "What the API server was asked for", ["kind"])
parts_sent = Counter("landbridge_recorder_parts", "Parts that the bucket has taken")
unsent_bytes = Gauge("landbridge_recorder_unsent_bytes", "What waits for the bucket")
written_until_seconds = Gauge("landbridge_recorder_written_until_seconds", "All until then is told, in the epoch")
not_understood = Counter("landbridge_recorder_not_understood", "Objects that have another form than is known", ["kind"])
