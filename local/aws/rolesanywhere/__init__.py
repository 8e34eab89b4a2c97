"""IAM Roles Anywhere, which moto lacks, built as moto builds its services: rights for whoever has a certificate."""
