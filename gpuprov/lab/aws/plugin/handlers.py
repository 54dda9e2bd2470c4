"""Which handler serves which resource type."""

from collections.abc import Mapping

from gpuprov.lab.aws.plugin.resources import (
    ebs,
    ec2_groups,
    ec2_instance,
    ec2_network,
    ec2_placement,
    ec2_routes,
    ec2_template,
    ec2_ways,
    efs,
    iam,
)
from gpuprov.lab.aws.plugin.resources.handler import Handler
from gpuprov.lab.aws.plugin.resources.s3_bucket import Bucket
from gpuprov.lab.aws.plugin.resources.s3_settings import (
    BucketPolicy,
    Encryption,
    Lifecycle,
    OwnershipControls,
    PublicAccessBlock,
    Versioning,
)

HANDLERS: Mapping[str, Handler] = {
    "aws:ec2/vpc:Vpc": ec2_network.Vpc(),
    "aws:ec2/subnet:Subnet": ec2_network.Subnet(),
    "aws:ec2/internetGateway:InternetGateway": ec2_network.InternetGateway(),
    "aws:ec2/routeTable:RouteTable": ec2_routes.RouteTable(),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ec2_routes.RouteTableAssociation(),
    "aws:ec2/route:Route": ec2_routes.Route(),
    "aws:ec2/placementGroup:PlacementGroup": ec2_placement.PlacementGroup(),
    "aws:ec2/launchTemplate:LaunchTemplate": ec2_template.LaunchTemplate(),
    "aws:ec2/eip:Eip": ec2_ways.Eip(),
    "aws:ec2/natGateway:NatGateway": ec2_ways.NatGateway(),
    "aws:ec2/vpcEndpoint:VpcEndpoint": ec2_ways.VpcEndpoint(),
    "aws:ec2/securityGroup:SecurityGroup": ec2_groups.SecurityGroup(),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ec2_groups.SecurityGroupRule("ingress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": ec2_groups.SecurityGroupRule("egress"),
    "aws:ec2/instance:Instance": ec2_instance.Instance(),
    "aws:ebs/volume:Volume": ebs.Volume(),
    "aws:ec2/volumeAttachment:VolumeAttachment": ebs.VolumeAttachment(),
    "aws:efs/fileSystem:FileSystem": efs.FileSystem(),
    "aws:efs/mountTarget:MountTarget": efs.MountTarget(),
    "aws:iam/role:Role": iam.Role(),
    "aws:iam/rolePolicy:RolePolicy": iam.RolePolicy(),
    "aws:iam/instanceProfile:InstanceProfile": iam.InstanceProfile(),
    "aws:s3/bucket:Bucket": Bucket(),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": PublicAccessBlock(),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": OwnershipControls(),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": Encryption(),
    "aws:s3/bucketVersioning:BucketVersioning": Versioning(),
    "aws:s3/bucketPolicy:BucketPolicy": BucketPolicy(),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": Lifecycle(),
}
