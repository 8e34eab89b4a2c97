"""Work on machines that is announced: tells nodes and pods, keeps new work off, drains in time, and looks afterwards.

docs/decisions/0064-maintenance.md says why.
"""
