"""GPUs: how much of each works, and what it says of its heat, its memory and its errors."""

from .board import CLUSTER, NODE, PLACE, POOL, Board, Panel, Query, Row

_OF = '{$HERE, job="gpu-exporter", node=~"$node"}'
_GPU, _NODE = "{{node}} {{gpu}}", "{{node}}"
_EACH = "by (cluster, node, gpu)"
_MEMORY = (
    f"max {_EACH} (DCGM_FI_DEV_FB_USED{_OF})\n"
    f"/ (max {_EACH} (DCGM_FI_DEV_FB_USED{_OF}) + max {_EACH} (DCGM_FI_DEV_FB_FREE{_OF}))"
)
# Bits 3, 6 and 7, as the alarm GPUSlowedByMachine has them.
_SLOWED = f"""
count by (node) (
  floor(DCGM_FI_DEV_CLOCKS_EVENT_REASONS{_OF} / 8) % 2 == 1
  or floor(DCGM_FI_DEV_CLOCKS_EVENT_REASONS{_OF} / 64) % 2 == 1
  or floor(DCGM_FI_DEV_CLOCKS_EVENT_REASONS{_OF} / 128) % 2 == 1
)
"""


def _hottest(metric: str) -> str:
    return f"max by (node) ({metric}{_OF})"


def _errors(metric: str) -> str:
    # Of all its GPUs: one that had none is no series.
    return f"sum by (node) (max {_EACH} (increase({metric}{_OF}[1h]))) > 0"


BOARD = Board(
    "gpus",
    "Landbridge: GPUs",
    "Each GPU of the chosen machines: activity, memory, heat, power and errors.",
    (CLUSTER, PLACE, POOL, NODE),
    (
        Row(
            "Activity",
            (
                Panel(
                    "heat",
                    "Multiprocessors at work",
                    "percentunit",
                    (Query(f'max {_EACH} (landbridge:gpu_active{{$HERE, node=~"$node"}})', _GPU),),
                    "A line for each GPU. Older ones tell only whether anything runs.",
                    most=1,
                ),
                Panel("heat", "Memory in use", "percentunit", (Query(_MEMORY, _GPU),), most=1),
            ),
        ),
        Row(
            "Heat and power",
            (
                Panel(
                    "lines",
                    "Hottest GPU of each machine",
                    "celsius",
                    (Query(_hottest("DCGM_FI_DEV_GPU_TEMP"), _NODE),),
                    limit=88,
                ),
                Panel(
                    "lines",
                    "Hottest memory of each machine",
                    "celsius",
                    (Query(_hottest("DCGM_FI_DEV_MEMORY_TEMP"), _NODE),),
                ),
                Panel(
                    "areas",
                    "Power of each machine's GPUs",
                    "watt",
                    (Query(f"sum by (node) (max {_EACH} (DCGM_FI_DEV_POWER_USAGE{_OF}))", _NODE),),
                ),
                Panel(
                    "lines",
                    "GPUs slowed down by their machine",
                    "short",
                    (Query(_SLOWED, _NODE),),
                    "For heat or for their power supply. Their own limit of power is not meant.",
                ),
            ),
        ),
        Row(
            "Errors",
            (
                Panel(
                    "table",
                    "Last Xids",
                    "short",
                    (Query(f"max {_EACH} (DCGM_FI_DEV_XID_ERRORS{_OF}) > 0"),),
                    "The last of each GPU since its driver was loaded. Many are faults of the program that ran there.",
                    width=12,
                    columns={"Value": "Xid", "node": "node", "gpu": "GPU", "cluster": "cluster"},
                ),
                Panel(
                    "table",
                    "Rows of memory that could not be replaced",
                    "short",
                    (Query(f"max {_EACH} (DCGM_FI_DEV_ROW_REMAP_FAILURE{_OF}) > 0"),),
                    width=12,
                    columns={"node": "node", "gpu": "GPU", "cluster": "cluster"},
                ),
                Panel(
                    "lines",
                    "Errors of memory in an hour",
                    "short",
                    (
                        Query(_errors("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"), "corrected: {{node}}"),
                        Query(_errors("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"), "not corrected: {{node}}"),
                    ),
                ),
                Panel(
                    "lines",
                    "Rows of memory replaced in an hour",
                    "short",
                    (
                        Query(_errors("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"), "in time: {{node}}"),
                        Query(_errors("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"), "after errors: {{node}}"),
                    ),
                ),
                Panel(
                    "lines",
                    "PCIe: what had to be sent again in an hour",
                    "short",
                    (Query(_errors("DCGM_FI_DEV_PCIE_REPLAY_COUNTER"), _NODE),),
                ),
                Panel(
                    "lines",
                    "Machines of which nothing is told",
                    "short",
                    (
                        Query(
                            'max by (node) (up{$HERE, job="gpu-exporter", node=~"$node"}) == 0',
                            _NODE,
                        ),
                    ),
                    "Their exporter does not answer.",
                ),
            ),
        ),
    ),
)
