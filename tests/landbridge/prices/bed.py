"""Price lists as the clouds have them, and a web server that has them, and that may fail as servers do."""

import csv
import http.server
import io
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

# The columns of AmazonEC2's list of September 2025, in their order, less some that say what a machine has.
COLUMNS = (
    *("SKU", "OfferTermCode", "RateCode", "TermType", "PriceDescription", "EffectiveDate", "StartingRange"),
    *("EndingRange", "Unit", "PricePerUnit", "Currency", "RelatedTo", "LeaseContractLength", "PurchaseOption"),
    *("OfferingClass", "Product Family", "serviceCode", "Location", "Location Type", "Instance Type", "vCPU"),
    *("Memory", "Tenancy", "EBS Optimized", "Operating System", "License Model", "usageType", "operation"),
    *("AvailabilityZone", "CapacityStatus", "MarketOption", "Pre Installed S/W", "Processor Features", "Region Code"),
)
HEAD = (
    ("FormatVersion", "v1.0"),
    ("Disclaimer", 'This pricing list is for informational purposes only, with a comma, and a "quote"'),
    ("Publication Date", "2026-11-27T22:53:08Z"),
    ("Version", "20261127225308"),
    ("OfferCode", "AmazonEC2"),
)
PLAIN = {
    "SKU": "2223B6PCG6QAUYY6",
    "TermType": "OnDemand",
    "PriceDescription": "$55.04 per On Demand Linux p5.48xlarge Instance Hour, to the second",
    "Unit": "Hrs",
    "Currency": "USD",
    "Product Family": "Compute Instance",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "operation": "RunInstances",
    "AvailabilityZone": "NA",
    "CapacityStatus": "Used",
    "MarketOption": "OnDemand",
    "Pre Installed S/W": "NA",
    "Processor Features": "Intel AVX; Intel AVX2",
}


def csv_row(kind: str, usd: float | str, **other: str) -> dict[str, str]:
    return {**PLAIN, "Instance Type": kind, "PricePerUnit": f"{usd}", **other}


def csv_list(*rows: Mapping[str, str]) -> str:
    text = io.StringIO()
    written = csv.writer(text, quoting=csv.QUOTE_ALL)
    written.writerows([*HEAD, COLUMNS, *([row.get(name, "") for name in COLUMNS] for row in rows)])
    return text.getvalue()


def item(name: str, usd: float, sku: str = "", **other: Any) -> dict[str, Any]:
    """As Azure's documentation shows one."""
    series = name.removeprefix("Standard_")
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": usd,
        "unitPrice": usd,
        "armRegionName": "southcentralus",
        "location": "US South Central",
        "effectiveStartDate": "2024-03-01T00:00:00Z",
        "meterName": f"{series} {sku}".strip(),
        "productName": "Virtual Machines NDsr H100 v5 Series",
        "skuName": f"{series} {sku}".strip(),
        "serviceName": "Virtual Machines",
        "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": name,
        **other,
    }


class Answer(NamedTuple):
    """`cut`: so many bytes come, and then the line breaks."""

    status: int
    body: bytes
    cut: int | None = None


class Web:
    """Answers by path, the last one again and again; `asked` are the filters and paths that were asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.items: list[dict[str, Any]] = []
        self.page = 100
        self.asked: list[str] = []
        self.url = ""

    def aws(self, region: str, *answers: Answer | str) -> None:
        path = f"/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
        self.answers[path] = [one if isinstance(one, Answer) else Answer(200, one.encode()) for one in answers]

    def answer(self, path: str) -> Answer:
        parts = urlsplit(path)
        if parts.path == "/api/retail/prices":
            return Answer(200, json.dumps(self.azure(parse_qs(parts.query))).encode())
        self.asked.append(parts.path)
        found = self.answers.get(parts.path, [Answer(404, b"<Error/>")])
        return found.pop(0) if len(found) > 1 else found[0]

    def azure(self, query: dict[str, list[str]]) -> dict[str, Any]:
        """Filters as the service does: terms of equality, all of which hold."""
        asked, skip = query["$filter"][0], int(query.get("$skip", ["0"])[0])
        self.asked.append(asked)
        terms = dict(term.split(" eq ") for term in asked.split(" and "))
        terms["type"] = terms.pop("priceType")
        found = [one for one in self.items if all(f"'{one[name]}'" == value for name, value in terms.items())]
        more = skip + self.page
        link = f"{self.url}/api/retail/prices?$filter={asked.replace(' ', '%20')}&$skip={more}"
        page = found[skip:more]
        return {"Items": page, "NextPageLink": link if more < len(found) else None, "Count": len(page)}


@contextmanager
def web() -> Iterator[Web]:
    made = Web()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body, cut = made.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:cut])
            self.close_connection = cut is not None

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()
