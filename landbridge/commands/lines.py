"""What each command does, in a line: of the first sentence of its own help, so that no command is imported for it."""

LINES = {
    "init": "Writes fleet.yaml and what goes with it into a folder, from a few answers.",
    "setup": "Brings the programs that commands call: Pulumi and kubectl, or with --local all of the local cloud.",
    "plan": "Shows the address plan: who owns which prefix, how full it is, and what would change.",
    "topology": "Draws regions, sites, prefixes, tunnels, pools and control planes as one SVG, as they are planned.",
    "up": "Brings stacks to what fleet.yaml says.",
    "preview": "Shows what `up` would do.",
    "destroy": "Destroys stacks and everything in them.",
    "status": "Shows each stack: last update, resources, and drift if asked.",
    "doctor": "Looks over everything in 15 seconds and says what is wrong, worst first, with what to do about each.",
    "links": "Tunnels and peerings between regions and sites.",
    "vpn": "Profiles for people's laptops.",
    "ssh": "Certificates that let people in by SSH for some hours.",
    "trace": "Shows hop by hop how a packet gets FROM one place TO another and back, by the plan alone.",
    "cluster": "The machines of a cluster's control plane.",
    "kubectl": "Runs kubectl on a cluster, such as `landbridge kubectl get nodes`.",
    "kubeconfig": "Writes a kubeconfig that only its owner may read; merges it into no other.",
    "access": "People's access to a cluster: certificates of a few hours, and rights by name and team.",
    "etcd": "A cluster's two etcd rings: main holds everything but events, which have the other.",
    "site": "A machine room: its hosts' enrolment, state and bundles, and its gateways.",
    "pool": "The pools of a cluster: how they are, their sizes by hand, and newer images for them.",
    "run": "Runs COMMAND with this folder's code on GPUs of the cluster, and follows it.",
    "runs": "Shows your runs of the last week: their state, where, since when, GPU hours and cost so far.",
    "logs": "Prints what one host of RUN has printed, or with --node what ran on a machine, or with --unit "
    "the machine itself.",
    "stop": "Ends RUNs and gives their GPUs back.",
    "exec": "Runs COMMAND, or a shell, in one host of RUN.",
    "forward": "Makes PORT of one host of RUN a port of this computer, until Ctrl-C: 6006 for "
    "TensorBoard, 8888 for Jupyter.",
    "queue": "Shows the queues of a cluster: what teams own and hold, what places have free, and runs.",
    "why": "Says why a pod, run, Job or node died or does not start: the cause, who decided it, the "
    "evidence, and what to do.",
    "alarms": "Shows alarms that are on: what is wrong, since when, and whose it is.",
    "usage": "Shows GPU hours by team, person, run and pool: held, lost with what ended early, at work, "
    "and what they cost.",
    "prices": "Shows what the fleet's instance types cost in its regions, and of when these prices are.",
    "shapes": "Shows what the fleet's machine types have: vCPUs, memory, GPUs, network and zones, and of when that is.",
    "quotas": "Shows whether the clouds' quotas are enough for the fleet, now and at its largest.",
    "grafana": "Writes dashboards for Grafana: the fleet, its GPUs, its control planes and the work on it.",
    "dashboard": "Shows GPUs in a browser as they are now: a cell each, who holds them, whether they work, "
    "and what waits.",
    "autoscaler": "What the autoscaler does, and why.",
    "maintenance": "Shows what is planned on machines of a cluster: what, when, and whose work it concerns.",
    "freeze": "Stops everything that ends machines or deletes nodes; machines are still bought.",
    "unfreeze": "Lets go on what `landbridge freeze` or a restore of etcd has stopped.",
    "drill": "Breaks a cluster on purpose, under steady writes, and compares what was acknowledged with "
    "what is there after.",
    "demo": "What Landbridge is for, to look at, on the local cloud.",
    "pki": "Certificates and keys of clusters: what ends when, and successors for it.",
    "image": "Bakes node images on this machine, checks, compares and publishes them, and moves them through channels.",
    "local": "The local cloud: where --local commands run.",
}
