"""What laptops' profiles and SSH have in common: the ledger of certificates, the list of revoked ones, people."""
