"""What the local cloud's own programs sign in to its Azure with: dummies, that nothing outside takes."""

TENANT = "00000000-0000-4000-8000-000000000001"
CLIENT, SECRET = "00000000-0000-4000-8000-0000000000c1", "local"
