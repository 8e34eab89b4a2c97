"""Boards as Grafana reads them, by its own SDK."""

import json
from collections.abc import Callable
from itertools import count
from string import ascii_uppercase

from grafana_foundation_sdk.builders import common, dashboard, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from components.addons.monitoring import targets

from . import colours, control_plane, fleet, gpus, work
from .board import Board, Choice, Panel, Query, whole

BOARDS = (fleet.BOARD, gpus.BOARD, control_plane.BOARD, work.BOARD)
TAG, SOURCE_NAME = "landbridge", "datasource"
# Which Prometheus it is, its Grafana knows: somebody chooses above the rows.
SOURCE = models.DataSourceRef("prometheus", f"${{{SOURCE_NAME}}}")
ALL = models.VariableOption(selected=True, text="All", value="$__all")
# Panels of each kind: how wide and how high. Numbers share the columns that there are.
COLUMNS, NUMBERS = 24, ("number", "bad")
SIZES = {
    "number": (0, 4),
    "bad": (0, 4),
    "lines": (12, 8),
    "areas": (12, 8),
    "heat": (COLUMNS, 10),
    "table": (COLUMNS, 8),
}
Builder = stat.Panel | timeseries.Panel | heatmap.Panel | table.Panel


def written(board: Board) -> str:
    return json.dumps(built(board), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


def built(board: Board) -> models.Dashboard:
    others = dashboard.DashboardLink("Landbridge").type(models.DashboardLinkType.DASHBOARDS).tags([TAG])
    made = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.says)
        .tags([TAG])
        .time("now-6h", "now")
        .refresh("1m")
        .timezone("browser")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(others.as_dropdown(True).include_vars(True).keep_time(True))
        .with_variable(dashboard.DatasourceVariable(SOURCE_NAME).label("Prometheus").type("prometheus"))
    )
    for choice in board.choices:
        made.with_variable(_variable(choice))
    # The same ones each time: links to a panel outlive an import.
    numbers = count(1)
    for row in board.rows:
        made.with_row(dashboard.Row(row.title).id(next(numbers)))
        share = COLUMNS // max(1, sum(panel.kind in NUMBERS for panel in row.panels))
        for panel in row.panels:
            made.with_panel(_panel(panel, share).id(next(numbers)))
    return made.build()


def _variable(choice: Choice) -> dashboard.QueryVariable:
    asks = f"label_values({whole(choice.metric)}, {choice.label})"
    made = (
        dashboard.QueryVariable(choice.name)
        .label(choice.title)
        .datasource(SOURCE)
        .query({"query": asks, "refId": choice.name})
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .current(ALL)
    )
    return made.all_value(choice.every) if choice.every else made


def _panel(panel: Panel, share: int) -> Builder:
    made = KINDS[panel.kind](panel)
    width, height = SIZES[panel.kind]
    made.title(panel.title).datasource(SOURCE).unit(panel.unit).span(panel.width or width or share).height(height)
    if panel.says:
        made.description(panel.says)
    for reference, query in zip(ascii_uppercase, panel.queries, strict=False):
        made.with_target(_target(panel, query, reference))
    return made


def _target(panel: Panel, query: Query, reference: str) -> prometheus.Dataquery:
    made = prometheus.Dataquery().ref_id(reference).expr(whole(query.asks)).datasource(SOURCE)
    if panel.kind == "table":
        return made.format(PromQueryFormat.TABLE).instant()
    if query.legend:
        made.legend_format(query.legend)
    # Grafana reckons $__rate_interval from it.
    return made.format(PromQueryFormat.TIME_SERIES).range().interval(f"{targets.SECONDS}s")


def _number(panel: Panel) -> stat.Panel:
    steps = [models.Threshold(None, colours.WELL), *([models.Threshold(1, colours.BAD)] if panel.kind == "bad" else [])]
    return (
        stat.Panel()
        .thresholds(dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps))
        .color_scheme(dashboard.FieldColor().mode(models.FieldColorModeId.THRESHOLDS))
        .color_mode(options.BigValueColorMode.VALUE)
        .graph_mode(options.BigValueGraphMode.NONE)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    )


def _lines(panel: Panel) -> timeseries.Panel:
    legend = common.VizLegendOptions().show_legend(True).placement(options.LegendPlacement.BOTTOM)
    tooltip = common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING)
    made = (
        timeseries.Panel()
        .min(0)
        .line_width(2)
        .show_points(options.VisibilityMode.NEVER)
        .legend(legend.display_mode(options.LegendDisplayMode.LIST))
        .tooltip(tooltip)
    )
    if panel.kind == "areas":
        made.fill_opacity(40).stacking(common.StackingConfig().mode(options.StackingMode.NORMAL))
    if panel.most is not None:
        made.max(panel.most)
    if panel.limit is not None:
        steps = [models.Threshold(None, colours.WELL), models.Threshold(panel.limit, colours.BAD)]
        made.thresholds(dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps))
        made.thresholds_style(common.GraphThresholdsStyleConfig().mode(options.GraphTresholdsStyleMode.DASHED))
    for number, (reference, query) in enumerate(zip(ascii_uppercase, panel.queries, strict=False)):
        made.override_by_query(reference, [_colour(colours.ALL[number], many="{{" in query.legend)])
        for value, colour in colours.KNOWN.get(query.legend.strip("{}"), {}).items():
            made.override_by_name(value, [_colour(colour, many=False)])
    return made


def _colour(colour: str, *, many: bool) -> models.DynamicConfigValue:
    mode = models.FieldColorModeId.SHADES if many else models.FieldColorModeId.FIXED
    return models.DynamicConfigValue("color", {"mode": mode, "fixedColor": colour})


def _heat(panel: Panel) -> heatmap.Panel:
    """Of series as they are: each is a line of cells."""
    scheme = heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme(colours.HEAT).steps(64).min(0)
    return (
        heatmap.Panel()
        .calculate(False)
        .color(scheme.max(panel.most) if panel.most is not None else scheme)
        .cell_values(heatmap.CellValues().unit(panel.unit))
        .rows_frame(heatmap.RowsHeatmapOptions().layout(options.HeatmapCellLayout.UNKNOWN).value(panel.title))
        # Grafana leaves nothing out then: an idle GPU is no hole.
        .filter_values(heatmap.FilterValueRange().le(-1))
        .show_legend()
        .show_tooltip()
        .cell_gap(1)
    )


def _table(panel: Panel) -> table.Panel:
    unasked = {name: True for name in ("Time", "Value") if name not in panel.columns}
    order = {name: number for number, name in enumerate(panel.columns)}
    shown = {"excludeByName": unasked, "indexByName": order, "renameByName": dict(panel.columns)}
    made = (
        table.Panel()
        .show_header(True)
        .with_transformation(models.DataTransformerConfig("organize", options=shown))
        .sort_by([common.TableSortByFieldState().display_name(next(iter(panel.columns.values())))])
    )
    for name in panel.columns.keys() & colours.KNOWN.keys():
        words = {value: {"color": colour} for value, colour in colours.KNOWN[name].items()}
        told = {"mappings": [{"type": "value", "options": words}], "custom.cellOptions": {"type": "color-text"}}
        made.override_by_name(panel.columns[name], [models.DynamicConfigValue(*one) for one in told.items()])
    return made


KINDS: dict[str, Callable[[Panel], Builder]] = {
    "number": _number,
    "bad": _number,
    "lines": _lines,
    "areas": _lines,
    "heat": _heat,
    "table": _table,
}
