"""What lies where in a fleet bucket, and for how long: the same on every cloud."""

# Beside the bundles below the fleet's own name: snapshots of etcd below BACKUPS/CLUSTER/, and audit logs below
# AUDIT/CLUSTER/, and below COPIES/HOME/CLUSTER/ copies of snapshots of clusters whose home is another region, and below
# NFS/SITE/ what sites' NFS servers bring. What teams keep lies below teams/TEAM/ (fleet/team_storage.py), and never
# expires.
BACKUPS, AUDIT, COPIES, FLOW_LOGS, NFS = "backups", "audit", "copies", "flow-logs", "nfs"
# Beginning of names → days until an object goes. For all clusters alike: a new one changes nothing in its region.
EXPIRY_DAYS = {BACKUPS: 30, COPIES: 30, AUDIT: 365, FLOW_LOGS: 90, NFS: 90}
