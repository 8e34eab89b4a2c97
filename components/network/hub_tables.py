"""The route tables of a hub: where what leaves its network goes, and where what comes by a tunnel or a peering does."""

OUTWARD, INWARD = "outward", "inward"
