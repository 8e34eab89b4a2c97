"""The commands' ways into clouds: one seam (`cloud.py`), and a folder for each cloud behind it."""
