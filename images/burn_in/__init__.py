"""GPU burn-in: what a machine's own tools say of its GPUs, judged by thresholds that are data."""
