"""VPC, subnet and internet gateway."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.resources.handler import (
    DEPENDENCY_SECONDS,
    Known,
    Values,
    changed,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_VPC = ("InvalidVpcID.NotFound",)
_NO_SUBNET = ("InvalidSubnetID.NotFound",)
_NO_GATEWAY = ("InvalidInternetGatewayID.NotFound",)


class Vpc:
    """aws:ec2/vpc:Vpc."""

    noun = "EC2 VPC"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateVpc, then its attributes, which no other call sets."""
        made = call.ec2(
            "create_vpc", CidrBlock=inputs["cidrBlock"], TagSpecifications=tag_specification("vpc", inputs.get("tags"))
        )
        call.made = str(made["Vpc"]["VpcId"])
        self._attributes(call, call.made, {}, inputs)

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeVpcs, its attributes, and the parts that AWS made with it."""
        found = absent(lambda: call.ec2("describe_vpcs", VpcIds=[identity])["Vpcs"], _NO_VPC)
        if not found:
            return None
        vpc = found[0]
        filters = [{"Name": "vpc-id", "Values": [identity]}]
        tables = call.ec2(
            "describe_route_tables", Filters=[*filters, {"Name": "association.main", "Values": ["true"]}]
        )["RouteTables"]
        acls = call.ec2("describe_network_acls", Filters=[*filters, {"Name": "default", "Values": ["true"]}])
        groups = call.ec2("describe_security_groups", Filters=[*filters, {"Name": "group-name", "Values": ["default"]}])
        main = tables[0]["RouteTableId"] if tables else None
        return {
            "arn": call.arn("ec2", f"vpc/{identity}", account=vpc["OwnerId"]),
            "cidrBlock": vpc["CidrBlock"],
            "dhcpOptionsId": vpc["DhcpOptionsId"],
            "instanceTenancy": vpc["InstanceTenancy"],
            "ownerId": vpc["OwnerId"],
            "enableDnsHostnames": self._attribute(call, identity, "enableDnsHostnames"),
            "enableDnsSupport": self._attribute(call, identity, "enableDnsSupport"),
            "defaultRouteTableId": main,
            "mainRouteTableId": main,
            "defaultNetworkAclId": next((acl["NetworkAclId"] for acl in acls["NetworkAcls"]), None),
            "defaultSecurityGroupId": next((group["GroupId"] for group in groups["SecurityGroups"]), None),
            "region": call.region,
            **tag_outputs(tag_map(vpc.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags, then ModifyVpcAttribute: what is imported is the stack's by its tag before anything else is changed."""
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))
        self._attributes(call, identity, olds, news)

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteVpc, once nothing is in it."""
        call.retry(
            lambda: gone(lambda: call.ec2("delete_vpc", VpcId=identity), _NO_VPC),
            while_code="DependencyViolation",
            seconds=DEPENDENCY_SECONDS,
        )

    @staticmethod
    def _attribute(call: Call, identity: str, name: str) -> bool:
        """Read one attribute."""
        answer = call.ec2("describe_vpc_attribute", VpcId=identity, Attribute=name)
        return bool(answer[name[0].upper() + name[1:]]["Value"])

    @staticmethod
    def _attributes(call: Call, identity: str, olds: Known, news: Known) -> None:
        """Set the attributes that differ; DNS support comes first, because host names need it."""
        for name in ("enableDnsSupport", "enableDnsHostnames"):
            if news.get(name) is not None and changed(name, olds, news):
                argument = name[0].upper() + name[1:]
                call.ec2("modify_vpc_attribute", VpcId=identity, **{argument: {"Value": news[name]}})


class Subnet:
    """aws:ec2/subnet:Subnet."""

    noun = "EC2 Subnet"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateSubnet, then ModifySubnetAttribute."""
        made = call.ec2(
            "create_subnet",
            VpcId=inputs["vpcId"],
            CidrBlock=inputs["cidrBlock"],
            AvailabilityZone=inputs.get("availabilityZone"),
            TagSpecifications=tag_specification("subnet", inputs.get("tags")),
        )
        call.made = str(made["Subnet"]["SubnetId"])
        if inputs.get("mapPublicIpOnLaunch"):
            self._map_public(call, call.made, inputs)

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeSubnets."""
        found = absent(lambda: call.ec2("describe_subnets", SubnetIds=[identity])["Subnets"], _NO_SUBNET)
        if not found:
            return None
        subnet = found[0]
        return {
            "arn": subnet["SubnetArn"],
            "assignIpv6AddressOnCreation": subnet.get("AssignIpv6AddressOnCreation", False),
            "availabilityZone": subnet["AvailabilityZone"],
            "availabilityZoneId": subnet.get("AvailabilityZoneId"),
            "cidrBlock": subnet["CidrBlock"],
            "mapPublicIpOnLaunch": subnet["MapPublicIpOnLaunch"],
            "ownerId": subnet["OwnerId"],
            "vpcId": subnet["VpcId"],
            "region": call.region,
            **tag_outputs(tag_map(subnet.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Tags, then ModifySubnetAttribute."""
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))
        if changed("mapPublicIpOnLaunch", olds, news):
            self._map_public(call, identity, news)

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteSubnet, once nothing is in it."""
        call.retry(
            lambda: gone(lambda: call.ec2("delete_subnet", SubnetId=identity), _NO_SUBNET),
            while_code="DependencyViolation",
            seconds=DEPENDENCY_SECONDS,
        )

    @staticmethod
    def _map_public(call: Call, identity: str, inputs: Known) -> None:
        """Say whether new instances get a public address."""
        value = {"Value": bool(inputs.get("mapPublicIpOnLaunch"))}
        call.ec2("modify_subnet_attribute", SubnetId=identity, MapPublicIpOnLaunch=value)


class InternetGateway:
    """aws:ec2/internetGateway:InternetGateway."""

    noun = "EC2 Internet Gateway"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateInternetGateway, then AttachInternetGateway."""
        made = call.ec2(
            "create_internet_gateway", TagSpecifications=tag_specification("internet-gateway", inputs.get("tags"))
        )
        call.made = str(made["InternetGateway"]["InternetGatewayId"])
        if inputs.get("vpcId"):
            call.ec2("attach_internet_gateway", InternetGatewayId=call.made, VpcId=inputs["vpcId"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeInternetGateways."""
        found = absent(
            lambda: call.ec2("describe_internet_gateways", InternetGatewayIds=[identity])["InternetGateways"],
            _NO_GATEWAY,
        )
        if not found:
            return None
        gateway = found[0]
        owner = gateway.get("OwnerId") or call.account()
        return {
            "arn": call.arn("ec2", f"internet-gateway/{identity}", account=owner),
            "ownerId": owner,
            "vpcId": next((each["VpcId"] for each in gateway.get("Attachments", [])), ""),
            "region": call.region,
            **tag_outputs(tag_map(gateway.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Detach and attach, and tags."""
        if changed("vpcId", olds, news):
            if olds.get("vpcId"):
                self._detach(call, identity, olds["vpcId"])
            if news.get("vpcId"):
                call.ec2("attach_internet_gateway", InternetGatewayId=identity, VpcId=news["vpcId"])
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DetachInternetGateway, then DeleteInternetGateway."""
        if known.get("vpcId"):
            self._detach(call, identity, known["vpcId"])
        gone(lambda: call.ec2("delete_internet_gateway", InternetGatewayId=identity), _NO_GATEWAY)

    @staticmethod
    def _detach(call: Call, identity: str, vpc: str) -> None:
        """Detach, once no address of the VPC is public any more."""
        call.retry(
            lambda: gone(
                lambda: call.ec2("detach_internet_gateway", InternetGatewayId=identity, VpcId=vpc),
                ("Gateway.NotAttached", *_NO_GATEWAY, *_NO_VPC),
            ),
            while_code="DependencyViolation",
            seconds=DEPENDENCY_SECONDS,
        )
