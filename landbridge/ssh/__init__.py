"""People's certificates for SSH: who has which, and who no more."""
