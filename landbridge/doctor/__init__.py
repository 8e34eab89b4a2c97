"""`landbridge doctor`: a quick look over everything, and what is wrong, worst first. It changes nothing."""
