"""The commands' ways into clouds: one seam (`cloud.py`), and a file for each cloud behind it."""
