"""Route table, its association with a subnet, and a single route."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

import zlib
from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.errors import AwsError
from gpuprov.lab.aws.plugin.resources.handler import (
    Known,
    Values,
    changed,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_TABLE = ("InvalidRouteTableID.NotFound",)
_NO_ASSOCIATION = ("InvalidAssociationID.NotFound",)
_NO_ROUTE = ("InvalidRoute.NotFound",)


class RouteTable:
    """aws:ec2/routeTable:RouteTable."""

    noun = "EC2 Route Table"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateRouteTable, then CreateRoute for each inline route."""
        made = call.ec2(
            "create_route_table",
            VpcId=inputs["vpcId"],
            TagSpecifications=tag_specification("route-table", inputs.get("tags")),
        )
        call.made = str(made["RouteTable"]["RouteTableId"])
        self._set_routes(call, call.made, [], inputs.get("routes", []))

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeRouteTables."""
        found = _table(call, identity)
        if found is None:
            return None
        routes = [
            {"cidrBlock": route["DestinationCidrBlock"], "gatewayId": route.get("GatewayId", "")}
            for route in found["Routes"]
            if route.get("GatewayId") != "local" and route.get("DestinationCidrBlock")
        ]
        return {
            "arn": call.arn("ec2", f"route-table/{identity}", account=found["OwnerId"]),
            "ownerId": found["OwnerId"],
            "propagatingVgws": [each["GatewayId"] for each in found.get("PropagatingVgws", [])],
            "routes": routes,
            "vpcId": found["VpcId"],
            "region": call.region,
            **tag_outputs(tag_map(found.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Inline routes and tags."""
        if changed("routes", olds, news) and news.get("routes") is not None:
            self._set_routes(call, identity, olds.get("routes", []), news["routes"])
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """Disassociate what is left, then DeleteRouteTable."""
        found = _table(call, identity)
        for each in found["Associations"] if found else ():
            if not each.get("Main"):
                gone(
                    lambda each=each: call.ec2(  # type: ignore[misc]
                        "disassociate_route_table", AssociationId=each["RouteTableAssociationId"]
                    ),
                    _NO_ASSOCIATION,
                )
        gone(lambda: call.ec2("delete_route_table", RouteTableId=identity), _NO_TABLE)

    @staticmethod
    def _set_routes(call: Call, identity: str, olds: list[Values], news: list[Values]) -> None:
        """Add, replace and delete routes until the table holds the new ones."""
        before = {route["cidrBlock"]: route["gatewayId"] for route in olds}
        after = {route["cidrBlock"]: route["gatewayId"] for route in news}
        for cidr, gateway in after.items():
            if before.get(cidr) != gateway:
                operation = "replace_route" if cidr in before else "create_route"
                call.ec2(operation, RouteTableId=identity, DestinationCidrBlock=cidr, GatewayId=gateway)
        for cidr in before.keys() - after.keys():
            _delete_route(call, identity, cidr)


class RouteTableAssociation:
    """aws:ec2/routeTableAssociation:RouteTableAssociation."""

    noun = "EC2 Route Table Association"

    def create(self, call: Call, inputs: Known) -> None:
        """AssociateRouteTable."""
        made = call.ec2("associate_route_table", RouteTableId=inputs["routeTableId"], SubnetId=inputs["subnetId"])
        call.made = str(made["AssociationId"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """Find the association in its table; after ReplaceRouteTableAssociation AWS has given it a new id."""
        filters = [{"Name": "association.route-table-association-id", "Values": [identity]}]
        tables = call.ec2("describe_route_tables", Filters=filters)["RouteTables"]
        if not tables and known.get("subnetId"):
            filters = [{"Name": "association.subnet-id", "Values": [known["subnetId"]]}]
            tables = call.ec2("describe_route_tables", Filters=filters)["RouteTables"]
        for table in tables:
            for each in table["Associations"]:
                if each["RouteTableAssociationId"] == identity or each.get("SubnetId") == known.get("subnetId", ""):
                    return {
                        "routeTableId": table["RouteTableId"],
                        "subnetId": each.get("SubnetId"),
                        "region": call.region,
                    }
        return None

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """ReplaceRouteTableAssociation."""
        if changed("routeTableId", olds, news):
            current = self._identity(call, identity, olds)
            call.ec2("replace_route_table_association", AssociationId=current, RouteTableId=news["routeTableId"])

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DisassociateRouteTable."""
        current = self._identity(call, identity, known)
        gone(lambda: call.ec2("disassociate_route_table", AssociationId=current), _NO_ASSOCIATION)

    @staticmethod
    def _identity(call: Call, identity: str, known: Known) -> str:
        """Return the id that AWS knows now: it changes when the table changes, and the engine keeps the first."""
        filters = [{"Name": "association.subnet-id", "Values": [known["subnetId"]]}]
        for table in call.ec2("describe_route_tables", Filters=filters)["RouteTables"]:
            for each in table["Associations"]:
                if each.get("SubnetId") == known["subnetId"]:
                    return str(each["RouteTableAssociationId"])
        return identity


class Route:
    """aws:ec2/route:Route."""

    noun = "EC2 Route"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateRoute; the id is the real provider's: `r-TABLE` and a CRC of the destination."""
        table, cidr = inputs["routeTableId"], inputs["destinationCidrBlock"]
        call.ec2("create_route", RouteTableId=table, DestinationCidrBlock=cidr, **_target(inputs))
        call.made = f"r-{table}{zlib.crc32(cidr.encode())}"

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """Find the route in its table."""
        table = _table(call, known["routeTableId"])
        for route in table["Routes"] if table else ():
            if route.get("DestinationCidrBlock") == known["destinationCidrBlock"]:
                return {
                    "routeTableId": known["routeTableId"],
                    "destinationCidrBlock": route["DestinationCidrBlock"],
                    "gatewayId": route.get("GatewayId"),
                    "natGatewayId": route.get("NatGatewayId"),
                    "origin": route.get("Origin"),
                    "state": route.get("State"),
                    "region": call.region,
                }
        return None

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """ReplaceRoute."""
        call.ec2(
            "replace_route",
            RouteTableId=news["routeTableId"],
            DestinationCidrBlock=news["destinationCidrBlock"],
            **_target(news),
        )

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteRoute."""
        _delete_route(call, known["routeTableId"], known["destinationCidrBlock"])


def _table(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return a route table as AWS describes it."""
    found = absent(lambda: call.ec2("describe_route_tables", RouteTableIds=[identity])["RouteTables"], _NO_TABLE)
    return found[0] if found else None


def _target(inputs: Known) -> Values:
    """Return where a route leads."""
    return {"GatewayId": inputs.get("gatewayId"), "NatGatewayId": inputs.get("natGatewayId")}


def _delete_route(call: Call, table: str, cidr: str) -> None:
    """Delete a route; that it or its table is gone is no error."""
    try:
        call.ec2("delete_route", RouteTableId=table, DestinationCidrBlock=cidr)
    except AwsError as error:
        if error.code not in {*_NO_ROUTE, *_NO_TABLE}:
            raise
