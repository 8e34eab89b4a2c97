"""The fleet: everything one fleet.yaml declares, as frozen pydantic models.

Shape and ranges are checked here; what needs two entries to decide (a pool naming a cluster, say) in `fleet.rules`.
"""

from collections.abc import Callable
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, PrivateAttr

from .address.blocks import address_to_int, parse
from .fields import MAIL, Model, Name
from .hours import days, time_zone
from .monitoring_model import Monitoring
from .price_book import Book
from .shape_book import Book as ShapeBook
from .yaml_subset import NAME

RegionName = Annotated[str, Field(pattern=f"^{NAME}$", description="the cloud's own name of the region")]


def _checked(check: Callable[[str], object]) -> AfterValidator:
    def checked(text: str) -> str:
        check(text)
        return text

    return AfterValidator(checked)


Cidr = Annotated[
    str,
    Field(pattern=r"^(\d{1,3}\.){3}\d{1,3}/\d{1,2}$", description="an IPv4 prefix such as 10.128.0.0/9"),
    _checked(parse),
]
Address = Annotated[
    str,
    Field(pattern=r"^(\d{1,3}\.){3}\d{1,3}$", description="an IPv4 address"),
    _checked(address_to_int),
]
Size = Literal["small", "medium", "large"]
PoolKind = Literal["gpu", "cpu", "system", "ssh"]
Cloud = Literal["aws", "azure"]
# Those that machines may start from (fleet.image_names.CHANNELS has one more, for what was taken back).
Channel = Literal["stable", "candidate"]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Clock = Annotated[str, Field(pattern=r"^(([01]\d|2[0-3]):[0-5]\d|24:00)$", description="hours and minutes, as 08:30")]
Zone = Annotated[str, Field(description="a time zone such as Europe/Berlin"), _checked(time_zone)]
Days = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d(/\d{4}-\d\d-\d\d)?$"), _checked(days)]


class Reserved(Model):
    """A prefix the fleet must never use, because something else does."""

    cidr: Cidr
    why: str = Field(min_length=1, description="who uses it, for those who read the plan")


class Ingress(Model):
    """One port open to addresses outside the fleet. Without an entry here nothing is."""

    port: int = Field(ge=1, le=65535)
    protocol: Literal["tcp", "udp"] = "tcp"
    cidr: Cidr
    why: str = Field(min_length=1, description="the reason, for those who review it")


class State(Model):
    """Where a team shares Pulumi's state, and what encrypts the secrets in it (Pulumi's own URLs)."""

    backend: str = Field(
        pattern=r"^(https|s3|gs|azblob|file)://.+",
        description="Pulumi Cloud (https://api.pulumi.com) or a store of your own, such as s3://BUCKET",
    )
    secrets: str = Field(
        pattern=r"^(default|passphrase|(awskms|gcpkms|azurekeyvault)://.+)$",
        description="passphrase, default (Pulumi Cloud's own) or a key, such as awskms://alias/KEY",
    )
    organization: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$",
        description="in Pulumi Cloud, whose stacks these are: an organization or a user, such as example",
    )


class AwsAccount(Model):
    """The one AWS account the fleet may touch; providers refuse any other."""

    account_id: str = Field(pattern=r"^\d{12}$", description="the account's twelve digits")


class AzureSubscription(Model):
    """The one Azure subscription the fleet may touch."""

    subscription_id: str = Field(pattern=r"^[0-9a-f-]{36}$")
    tenant_id: str = Field(pattern=r"^[0-9a-f-]{36}$")
    operators: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f-]{36}$",
        description="object id of the Entra group that may read and delete the fleet's secrets; "
        "whoever brings a region up first, where it is left out",
    )


class Limits(Model):
    """Blast radius above which `landbridge up` asks, even with --yes. Counted over all stacks of one run."""

    replace: int = Field(default=0, ge=0)
    destroy: int = Field(default=0, ge=0)
    create: int = Field(default=100, ge=0)


class Images(Model):
    """What machines may start from."""

    max_age_days: int = Field(default=90, ge=1, le=3650, description="an older image lacks what was mended since")
    prepull: list[str] = Field(
        default_factory=list, description="containers' images that nodes have from the start: NAME:TAG@sha256:DIGEST"
    )
    runs: str | None = Field(default=None, min_length=1, description="the image of runs that name none")


class Quotas(Model):
    """vCPUs that the cloud lets the account run in a region at a time (see `fleet.quotas`). None: not checked."""

    standard: int | None = Field(default=None, ge=0, description="AWS: families A, C, D, H, I, M, R, T and Z")
    g: int | None = Field(default=None, ge=0, description="AWS: families G and VT")
    p: int | None = Field(default=None, ge=0, description="AWS: family P")
    standard_spot: int | None = Field(default=None, ge=0)
    g_spot: int | None = Field(default=None, ge=0)
    p_spot: int | None = Field(default=None, ge=0)
    cores: int | None = Field(default=None, ge=0, description="Azure: all families on demand together")
    spot: int | None = Field(default=None, ge=0, description="Azure: all spot machines together")
    families: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict, description="Azure: on demand by family, such as standardNDSH100v5Family"
    )


Dollars = Annotated[float, Field(gt=0)]


class Region(Model):
    """A network in one cloud region."""

    cloud: Cloud = Field(description="who runs it: aws or azure")
    zones: list[str] = Field(
        min_length=1, max_length=6, description="zone letters on AWS (a, b, c), numbers on Azure ('1')"
    )
    size: Size = "medium"
    nat: Literal["one", "per-zone"] = "one"
    laptops: bool | Name = Field(
        default=False,
        description="a laptop VPN server pair in this region; by a cluster's name, which cluster's pods laptops reach",
    )
    laptop_services: bool = Field(default=False, description="laptops reach that cluster's services, too")
    cidr: Cidr | None = Field(default=None, description="pins the region's whole block")
    quotas: Quotas = Quotas()
    prices: dict[str, Dollars] = Field(
        default_factory=dict,
        description="US dollars an hour by instance type, where they are not the cloud's list prices",
    )


class Host(Model):
    """A machine in a machine room."""

    gpus: int = Field(default=0, ge=0, le=16)
    gpu: Name | None = Field(default=None, description="GPU model, such as h100")
    gpu_unlisted: bool = Field(default=False, description="the model is meant, though Landbridge does not list it")
    cpus: int = Field(ge=1)
    memory_gib: int = Field(ge=1)
    rdma: bool = Field(default=False, description="InfiniBand or RoCE, for work on many machines")
    address: Address | None = Field(default=None, description="fixed address in the site's network")


class Site(Model):
    """A machine room of one's own."""

    gateways: list[Address] = Field(min_length=1, max_length=2, description="public addresses of the VPN gateways")
    asn: int = Field(ge=0, le=4294967294, description="BGP number, private: 64768-65534, less those Azure keeps")
    size: Size = "medium"
    cidr: Cidr | None = Field(default=None, description="pins the site's whole block, for a network that exists")
    hosts: dict[Name, Host] = Field(default_factory=dict)
    nfs: Name | None = Field(default=None, description="the host that serves NFS")


class Share(Model):
    """A file share that looks the same from everywhere."""

    path: str = Field(pattern=r"^/[a-z0-9/_-]+$")
    uid: int = Field(default=0, ge=0, le=4294967294)
    gid: int = Field(default=0, ge=0, le=4294967294)
    mode: str = Field(default="0755", pattern=r"^[0-7]{3,4}$")
    quota_gib: int | None = Field(default=None, ge=1, description="most that a site's NFS server keeps of it")
    backup: bool = Field(default=True, description="whether a site's NFS server brings it to the fleet bucket")


class Storage(Model):
    """Shares and the fleet bucket, the same in every region."""

    shares: dict[Name, Share] = Field(default_factory=dict)
    backups: bool = True
    noncurrent_days: int = Field(default=30, ge=1, le=3650, description="how long the bucket keeps replaced versions")
    home_quota_gib: int | None = Field(default=None, ge=1, description="most that one person's home holds at a site")


class Cluster(Model):
    """One Kubernetes control plane with its pools."""

    region: RegionName = Field(description="home region: etcd and API servers stand here")
    kubernetes: str = Field(pattern=r"^1\.\d{2}\.\d{1,2}$", description="a whole version, such as 1.36.2")
    size: Size = Field(default="small", description="nodes: small 500, medium 2,500, large 5,000")
    etcd_members: Literal[3, 5] = 3
    api_servers: Literal[2, 3, 5] = 2
    addons: list[Name] = Field(default_factory=list)
    cidr: Cidr | None = Field(default=None, description="pins the cluster's whole block")
    copies: RegionName | None = Field(
        default=None, description="a second region that keeps copies of snapshots and keys, to rebuild the cluster from"
    )
    autoscaler_dry_run: bool = Field(
        default=False, description="the autoscaler decides and says so, and neither buys nor ends machines"
    )


class Pool(Model):
    """Like machines of one cluster in one region or site."""

    kind: PoolKind
    cluster: Name
    owner: Name = Field(description="a team")
    region: RegionName | None = None
    site: Name | None = None
    instance_type: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.-]+$")
    channel: Channel = Field(default="stable", description="whose images its machines start from")
    gpus: int = Field(default=0, ge=0, le=16, description="GPUs of one machine")
    hosts: list[Name] = Field(default_factory=list, description="the site's hosts that belong to the pool")
    zones: list[str] = Field(default_factory=list, description="all of the region's unless named")
    min: int = Field(default=0, ge=0)
    max: int = Field(default=0, ge=0)
    spares: int = Field(default=0, ge=0, description="machines with GPUs that stand ready before anybody asks for them")
    priority: int = Field(default=10, ge=0, le=1000, description="higher is filled first")
    spot: bool = False
    max_price_per_hour: float | None = Field(default=None, gt=0, description="US dollars for one machine")


class TeamBucket(Model):
    """A bucket of the account that is not the fleet's, and that a team's pods may use."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", description="the bucket's name in S3")
    write: bool = Field(default=False, description="whether they may write and delete there, too")
    key: str | None = Field(
        default=None,
        pattern=r"^arn:aws:kms:[a-z0-9-]+:\d{12}:key/(mrk-)?[0-9a-f-]{32,36}$",
        description="the ARN of the KMS key that encrypts it, such as arn:aws:kms:REGION:ACCOUNT:key/ID",
    )


class TeamQueue(Model):
    """GPUs of a cluster that a team's queued runs may hold, at sites and in clouds together."""

    gpus: int = Field(ge=0, description="those that it owns: it gets them whenever it asks")
    borrows: int | None = Field(default=None, ge=0, description="most GPUs of others that it may hold; None: all")
    lends: int | None = Field(default=None, ge=0, description="most of its own that others may hold; None: all")


class Team(Model):
    """People who share pools and a bill."""

    gid: int = Field(ge=1000, le=60000)
    max_gpus: int | None = Field(default=None, ge=0, description="GPUs in clouds that its pools hold at a time")
    max_usd_per_hour: Dollars | None = Field(default=None, description="what its pools' machines in clouds may cost")
    queues: dict[Name, TeamQueue] = Field(default_factory=dict, description="by cluster, where the team queues runs")
    # Each adds to the team's role, which IAM bounds at 10,240 characters.
    buckets: list[TeamBucket] = Field(
        default_factory=list, max_length=10, description="buckets beside the team's own folder of the fleet bucket"
    )


class Person(Model):
    """Someone who logs in: one uid on every machine and share."""

    uid: int = Field(ge=1000, le=60000)
    team: Name
    keys: list[str] = Field(default_factory=list, description="SSH public keys, as .pub files have them")


class Window(Model):
    """Hours in which announced work on machines may begin."""

    days: list[Day] = Field(default_factory=lambda: list(get_args(Day)), min_length=1)
    begins: Clock = "00:00"
    ends: Clock = Field(default="24:00", description="before `begins`: on the next day")
    zone: Zone = "UTC"


class Postponing(Model):
    """Whether those whose work it would end may move it."""

    by: Literal["team", "operators"] = Field(default="team", description="team: whoever's work is there")
    times: int = Field(default=2, ge=0, le=100)
    hours: float = Field(default=4, ge=0, le=168, description="all times together")


class Maintenance(Model):
    """What is announced before work on machines, and when it may begin."""

    notice_minutes: int = Field(default=60, ge=0, le=10080, description="told so long before at the latest")
    closed_minutes: int = Field(
        default=60,
        ge=0,
        le=1440,
        description="so long before, no new work begins there that does not say it is shorter",
    )
    share: float = Field(default=0.1, gt=0, le=1, description="of a pool's machines at once; at least one")
    windows: dict[Name | RegionName, list[Window]] = Field(
        default_factory=dict, description="by pool, site or region; without any work begins at any hour"
    )
    frozen: list[Days] = Field(default_factory=list, description="days, as 2026-12-24 or 2026-12-24/2027-01-02, in UTC")
    postpone: Postponing = Postponing()


class Fleet(Model):
    """The whole of fleet.yaml."""

    fleet: Name
    owner: Name = Field(description="the team that owns what all share")
    domain: str = Field(
        pattern=r"^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$",
        description="the suffix of private names, such as fleet.example.com",
    )
    supernet: Cidr
    reserved: list[Reserved] = Field(default_factory=list)
    ingress: list[Ingress] = Field(default_factory=list)
    access: Literal["ssm", "ssh"] = Field(default="ssm", description="how operators reach control plane machines")
    ssh: Literal["keys", "certificates"] = Field(
        default="keys",
        description="what lets people in by SSH: their keys as they stand here, or certificates that hold for hours",
    )
    state: State | None = None
    aws: AwsAccount | None = None
    azure: AzureSubscription | None = None
    limits: Limits = Limits()
    max_gpus: int | None = Field(default=None, ge=0, description="GPUs in clouds that all pools hold at a time")
    max_usd_per_hour: Dollars | None = Field(default=None, description="what all pools' machines in clouds may cost")
    images: Images = Images()
    regions: dict[RegionName, Region] = Field(min_length=1, description="one entry for each cloud region, by its name")
    sites: dict[Name, Site] = Field(default_factory=dict)
    storage: Storage = Storage()
    maintenance: Maintenance = Maintenance()
    monitoring: Monitoring | None = Field(default=None, description="`{}` has all of it")
    cloud_alarms: list[Annotated[str, Field(pattern=MAIL)]] = Field(
        default_factory=list, max_length=10, description="the mail address of somebody whom the clouds' alarms reach"
    )
    clusters: dict[Name, Cluster] = Field(default_factory=dict)
    pools: dict[Name, Pool] = Field(default_factory=dict)
    teams: dict[Name, Team] = Field(min_length=1, description="at least one: pools and people belong to teams")
    people: dict[Name, Person] = Field(default_factory=dict)
    # Of the file beside it, where the loader found one.
    _price_book: Book = PrivateAttr(default_factory=dict)
    _shape_book: ShapeBook = PrivateAttr(default_factory=dict)

    @property
    def price_book(self) -> Book:
        """What fleet.prices.yaml says (see `fleet.price_book`)."""
        return self._price_book

    @property
    def shape_book(self) -> ShapeBook:
        """What fleet.shapes.yaml says (see `fleet.shape_book`)."""
        return self._shape_book

    def with_shapes(self, book: ShapeBook) -> "Fleet":
        """The same fleet with this shape book."""
        made = self.model_copy()
        made._shape_book = book
        return made

    def with_prices(self, book: Book) -> "Fleet":
        """The same fleet with this price book."""
        made = self.model_copy()
        made._price_book = book
        return made
