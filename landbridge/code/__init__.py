"""The code of a run on its way from a folder to a team's part of a fleet bucket."""
