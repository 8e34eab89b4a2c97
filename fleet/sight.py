"""When so many nodes are silent that nobody knows what runs on them: then nothing of it is ended."""

# Above this share, and with so many: one or two sick machines are no trouble of their place's.
SHARE, FEWEST = 0.3, 3


def out_of_sight(silent: int, nodes: int) -> bool:
    return silent >= FEWEST and silent > SHARE * nodes
