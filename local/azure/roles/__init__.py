"""Azure's roles: the built-in ones as data, conditions of assignments, and what assignments let a principal do."""
