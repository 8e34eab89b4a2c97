"""Dashboards for a Grafana that people have: tables of queries, and what builds them with Grafana's own SDK.

A dashboard is a module with a table. Its queries ask for what the add-ons of `components/addons/monitoring` measure.
"""
