"""What the GPUs of a machine do and ail from, as Prometheus reads it: NVML's figures under the names that DCGM gives.

Dashboards and alerts that know dcgm-exporter know these: names, kinds and labels are those of its
etc/default-counters.csv.
"""
