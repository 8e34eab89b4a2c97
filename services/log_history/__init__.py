"""What a VictoriaLogs that begins on an empty disk has from the other one: docs/decisions/0071-logs.md."""
