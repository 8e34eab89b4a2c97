"""Links as they stand: what their stack published, and what sites make of it."""
