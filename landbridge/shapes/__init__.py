"""What the fleet's machine types have: fetched from the clouds, looked at, and compared before anything is built."""
