"""How the pages look: in the letters and colours of all our pictures."""

from collections.abc import Mapping

from landbridge.sheet import TEXT

# viridis, which those see alike who tell colours apart and those who don't; in grey it goes from dark to light.
SCALE = (
    "#440154",
    "#482475",
    "#414487",
    "#355f8d",
    "#2a788e",
    "#21918c",
    "#22a884",
    "#44bf70",
    "#7ad151",
    "#bddf26",
    "#fde725",
)
INK, WORD, KEY, LINE, PAPER, WARN, BAD = "#16324f", "#24323f", "#5b6b7b", "#d5dee8", "#f5f8fb", "#a86a14", "#8c2d04"
# Class of a cell → its look. Beside the colour each has a mark of its own: see heat.py.
CELLS: Mapping[str, str] = {
    **{f"a{number}": f"fill:{colour};stroke:#00000033" for number, colour in enumerate(SCALE)},
    "held": "fill:#9dbfe2;stroke:#4a86c5",
    "free": "fill:#fff;stroke:#7f8c99",
    "shut": f"fill:#fff;stroke:{WARN};stroke-dasharray:2 2",
    "unseen": "fill:#dde4eb;stroke:#b9c4cf",
    "broken": f"fill:url(#hatch);stroke:{BAD};stroke-width:1.5",
}
STYLE = f"""
*{{box-sizing:border-box}}
body{{margin:0;background:{PAPER};color:{WORD};font:14px/1.45 {TEXT}}}
header{{background:{INK};color:#fff;padding:14px 28px;display:flex;flex-wrap:wrap;gap:6px 24px;align-items:baseline}}
header h1{{font-size:20px;margin:0}} header a{{color:#fff;text-decoration:none}} header p{{margin:0;color:#c4d3e3}}
main{{padding:18px 28px 40px;max-width:1480px;margin:0 auto}}
section{{background:#fff;border:1px solid {LINE};border-radius:10px;padding:16px 20px;margin:0 0 16px;overflow-x:auto}}
h2{{font-size:16px;margin:0 0 10px;color:{INK}}} h3{{font-size:14px;margin:16px 0 6px;color:{INK}}}
h3 span,h2 span{{font-weight:400;color:{KEY};margin-left:8px}}
a{{color:#2c6aa8}}
table{{border-collapse:collapse;min-width:50%;max-width:100%}}
th{{text-align:left;color:{KEY};font-weight:400;font-size:12px}}
th,td{{padding:4px 22px 4px 0;border-bottom:1px solid #edf1f5;vertical-align:top}}
td.number,th.number{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
tbody tr:last-child>*{{border-bottom:0}} tbody th{{padding-top:6px}}
.none{{color:{KEY};margin:0}} .page{{color:{BAD};font-weight:600}} .ticket{{color:#8a5a12;font-weight:600}}
.tiles{{display:flex;flex-wrap:wrap;gap:10px;margin:0 0 16px}}
.tile{{background:#fff;border:1px solid {LINE};border-radius:10px;padding:10px 14px;flex:1 1 auto;white-space:nowrap}}
.tile b{{display:block;font-size:26px;line-height:1.2;color:{INK};font-variant-numeric:tabular-nums}}
.tile span{{color:{KEY};font-size:12px}} .tile.bad{{border-left:5px solid {BAD}}} .tile.bad b{{color:{BAD}}}
.blind{{border-left:5px solid {WARN};color:#6b4a13}} .blind p{{margin:2px 0}}
.map{{display:flex;flex-wrap:wrap;gap:8px 10px}} .map a{{text-decoration:none;display:block}}
.map svg{{display:block}} .map small,.big small{{display:block;font-size:10px;line-height:1.3;color:{KEY}}}
.map small{{max-width:76px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}}
.big{{display:flex;flex-wrap:wrap;gap:14px;text-align:center}} .big>div{{min-width:96px}}
.big svg{{width:40px;height:40px}} td svg{{vertical-align:top}}
.legend{{display:flex;flex-wrap:wrap;gap:6px 18px;color:{KEY};font-size:12px;align-items:center;margin:0 0 4px}}
.legend span{{display:flex;gap:6px;align-items:center}}
.topology{{overflow-x:auto}} .topology svg{{display:block;margin:0 auto}}
text.bad{{font-size:12px;font-weight:600;fill:{BAD}}}
.hidden{{position:absolute}}
.dash{{stroke:#fff;stroke-width:2}} .dot{{fill:{INK}}} .cross{{stroke:{BAD};stroke-width:1.5}}
.shut{{fill:none;stroke:{WARN};stroke-width:1.5;stroke-dasharray:4 3}} .hatch{{stroke:#e0a58a;stroke-width:2.5}}
{"".join(f".{name}{{{look}}}" for name, look in CELLS.items())}
"""
