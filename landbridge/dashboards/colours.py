"""Colours that everybody tells apart, who sees no red or no green as well: those of Okabe and Ito, 2008."""

BLUE, VERMILLION, YELLOW, GREEN = "#0072B2", "#D55E00", "#F0E442", "#009E73"
SKY, ORANGE, PURPLE, GREY = "#56B4E9", "#E69F00", "#CC79A7", "#999999"
ALL = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW, GREY)
WELL, BAD = BLUE, VERMILLION
# Of heat: Grafana's name of one that grows in brightness as in hue.
HEAT = "Viridis"
# Label → value → colour. Series of other labels are shades of one colour for each query.
KNOWN = {
    "phase": {"Running": BLUE, "Pending": ORANGE, "Succeeded": GREEN, "Failed": VERMILLION, "Unknown": GREY},
    "request_kind": {"readOnly": BLUE, "mutating": ORANGE},
    "severity": {"page": VERMILLION, "ticket": ORANGE},
    "state": {
        "live": BLUE,
        "owed": ORANGE,
        "refused": VERMILLION,
        "ready": SKY,
        "unready": PURPLE,
        "notStarted": YELLOW,
    },
    "verb": {
        "GET": SKY,
        "LIST": BLUE,
        "WATCH": GREY,
        "POST": GREEN,
        "PUT": ORANGE,
        "PATCH": YELLOW,
        "DELETE": VERMILLION,
        "APPLY": PURPLE,
    },
}
