"""Queues of teams as people see them: who runs, who waits, before whom, since when and why."""
