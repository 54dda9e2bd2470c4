"""How an instance's capacity is bought."""

from typing import Any

from document import Market


def buying(market: Market | None) -> dict[str, Any]:
    """The inputs of an instance that say how it is bought; none for on demand.

    Reserved capacity is always named by the id of one reservation. An instance that only prefers reservations, or whose
    group of them is full, may run on demand (EC2 API Reference, CapacityReservationSpecification, read 2026-11-30).
    """
    if market is None:
        return {}
    inputs: dict[str, Any] = {}
    if market["kind"] == "spot":
        # A request that outlived its instance would start another one: it is for one instance, once.
        options = {"spot_instance_type": "one-time", "instance_interruption_behavior": "terminate"}
        price = {} if market["max_price"] is None else {"max_price": market["max_price"]}
        inputs["instance_market_options"] = {"market_type": "spot", "spot_options": options | price}
    elif market["kind"] == "capacity-block":
        inputs["instance_market_options"] = {"market_type": "capacity-block"}
    if market["reservation"] is not None:
        inputs["capacity_reservation_specification"] = {
            "capacity_reservation_target": {"capacity_reservation_id": market["reservation"]}
        }
    return inputs
