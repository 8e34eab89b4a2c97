"""Drivers that local machines have not, as they play them: `libraries` lies on the path of images that load theirs."""
