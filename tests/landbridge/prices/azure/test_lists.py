"""Azure's retail prices: page after page, Linux by the hour, spot apart."""

from typing import Any

import pytest

from landbridge.prices import azure, web
from tests.landbridge.prices.bed import Answer, Web, item

H100, CPU = "Standard_ND96isr_H100_v5", "Standard_D2s_v5"
NOTHING = lambda *_: None  # noqa: E731
OTHERS: tuple[dict[str, Any], ...] = (
    {"productName": "Virtual Machines NDsr H100 v5 Series Windows"},
    {"productName": "NDsr H100 v5 Series Cloud Services"},
    {"skuName": "ND96isr H100 v5 Low Priority"},
    {"unitOfMeasure": "1/Month"},
    {"currencyCode": "EUR"},
    {"type": "Reservation"},
    {"armRegionName": "eastus"},
    {"retailPrice": 0.0},
    {"retailPrice": float("inf")},
    {"isPrimaryMeterRegion": False},
)


@pytest.mark.parametrize("other", OTHERS, ids=lambda one: next(iter(one)))
@pytest.mark.parametrize("sku", ["", "Spot"])
def test_only_the_plain_machine_counts(other: dict[str, Any], sku: str) -> None:
    items = [item(H100, 999.0, sku, **other), item(H100, 98.32, sku), item(H100, 999.0, sku, **other)]
    kind = "spot" if sku else "on_demand"
    found = azure.prices(items, "southcentralus", [H100])
    assert found == {"on_demand": {}, "spot": {}, kind: {H100: 98.32}}


def test_all_pages_are_read_and_each_type_is_asked_for(lists: Web) -> None:
    lists.items = [
        item(H100, 117.968, productName="Virtual Machines NDsr H100 v5 Series Windows"),
        item(H100, 98.32),
        item(H100, 30.5, "Spot"),
        item(H100, 19.6, "Low Priority"),
        item(CPU, 0.096),
        item(CPU, 0.02, "Spot"),
        item("Standard_D4s_v5", 0.192),
    ]
    lists.page = 1
    found = azure.listed(lists.url, "southcentralus", [H100, CPU], NOTHING)
    source = f"{lists.url}/api/retail/prices"
    assert found == {"on_demand": (source, {H100: 98.32, CPU: 0.096}), "spot": (source, {H100: 30.5, CPU: 0.02})}
    assert len(lists.asked) == 4 + 2
    assert f"armRegionName eq 'southcentralus' and armSkuName eq '{CPU}' and priceType eq 'Consumption'" in lists.asked


def test_what_is_no_answer_of_it_is_told(lists: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    for body in (b"<html>", b"{}", b'{"Items": 3}', b'{"Items": [3]}', b"[]"):
        monkeypatch.setattr(lists, "answer", lambda path, body=body: Answer(200, body))
        with pytest.raises(web.AwayError, match="is no price list"):
            azure.listed(lists.url, "southcentralus", [CPU], NOTHING)


def test_it_goes_on_at_its_own_place_alone_and_not_for_ever(lists: Web) -> None:
    lists.items, lists.page = [item(CPU, 0.1), item(CPU, 0.1)], 1
    own, lists.url = lists.url, "https://prices.example.com"
    with pytest.raises(web.AwayError, match=r"goes on at another place, .https://prices\.example\.com"):
        azure.listed(own, "southcentralus", [CPU], NOTHING)
    lists.url, lists.items = own, [item(CPU, 0.1)] * (azure.MOST_PAGES + 1)
    with pytest.raises(web.AwayError, match="has no end"):
        azure.listed(own, "southcentralus", [CPU], NOTHING)


def test_the_same_place_may_be_written_with_its_port() -> None:
    assert azure._place("https://prices.azure.com:443/x") == azure._place("https://prices.azure.com/y")
