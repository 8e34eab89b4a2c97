"""Gives people of a team what pods of their own namespace have printed: docs/decisions/0071-logs.md."""
