"""Who a cluster's recorder is, and where in the home region's fleet bucket it writes what it saw.

What it writes, what its role allows and what the policy pack takes all go by this.
"""

SPACE, ACCOUNT = "kube-system", "recorder"
# Whom a token of its service account is about.
SUBJECT = f"system:serviceaccount:{SPACE}:{ACCOUNT}"
# Below RECORDS/CLUSTER/DAY/ what operators read; below TEAM_RECORDS/TEAM/CLUSTER/DAY/ what that team's people read.
RECORDS, TEAM_RECORDS = "records", "team-records"
DAYS = 30


def folder(cluster: str) -> str:
    return f"{RECORDS}/{cluster}/"


def team_folder(team: str, cluster: str) -> str:
    """`*` stands for every team."""
    return f"{TEAM_RECORDS}/{team}/{cluster}/"


def written(cluster: str) -> list[str]:
    """Patterns of all that a cluster's recorder may write, and nobody else."""
    return [f"{folder(cluster)}*", f"{team_folder('*', cluster)}*"]


def read_by(team: str) -> str:
    """The pattern of what a team's people may read, of every cluster."""
    return f"{TEAM_RECORDS}/{team}/*"
