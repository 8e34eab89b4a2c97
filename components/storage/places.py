"""What lies where in a fleet bucket, and for how long: the same on every cloud."""

from fleet import recorder

# Beside the bundles below the fleet's own name: snapshots of etcd below BACKUPS/CLUSTER/, and audit logs below
# AUDIT/CLUSTER/, and below COPIES/HOME/CLUSTER/ copies of snapshots of clusters whose home is another region, and below
# NFS/SITE/ what sites' NFS servers bring. What teams keep lies below teams/TEAM/ (fleet/team_storage.py), and never
# expires.
# Below restores/CLUSTER/ a drill leaves a few bytes of each restore that it has tested (fleet/fleet_metrics.py): they
# stay, for what was tested a year ago is asked for then.
# Below drift/CLUSTER/STACK/ a look at drift leaves the number of what differs. Looks remove older ones, and nothing
# else does: how long ago the last one was is asked for, too.
# Below RECORDS/CLUSTER/ and TEAM_RECORDS/TEAM/CLUSTER/ lies what a cluster's recorder saw (fleet/recorder.py).
BACKUPS, AUDIT, COPIES, FLOW_LOGS, NFS = "backups", "audit", "copies", "flow-logs", "nfs"
RECORDS, TEAM_RECORDS = recorder.RECORDS, recorder.TEAM_RECORDS
# Beginning of names → days until an object goes. For all clusters alike: a new one changes nothing in its region.
EXPIRY_DAYS = {
    BACKUPS: 30,
    COPIES: 30,
    AUDIT: 365,
    FLOW_LOGS: 90,
    NFS: 90,
    RECORDS: recorder.DAYS,
    TEAM_RECORDS: recorder.DAYS,
}
