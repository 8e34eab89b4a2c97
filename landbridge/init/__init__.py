"""What `landbridge init` writes: from a few answers to a folder in which `landbridge up --local` runs.

Answers (`answers`, asked by the table in `questions`) become entries of a fleet file (`entries`). These get addresses
(`ranges`) and comments (`fleet_file`), and the fleet's own loader and plan read the text (`making`) before any of it
is written (`folder`).
"""
