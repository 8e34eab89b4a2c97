"""People's laptops: who has which certificate, and who no more."""
