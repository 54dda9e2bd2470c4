"""Loading the parts of pulumi_aws that stacks/aws uses: some warn of their own old names when they are loaded."""

import warnings
from types import ModuleType

import pulumi_aws


def load_modules() -> dict[str, ModuleType]:
    """Load what is loaded lazily, without its warnings; the tests' rule "a warning is an error" is about ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loaded = {name: getattr(pulumi_aws, name) for name in ("ebs", "ec2", "efs", "iam", "s3", "vpc")}
        for module in loaded.values():
            dir(module)
        assert loaded["s3"].BucketPolicy
        assert loaded["ec2"].Instance
        assert loaded["ebs"].Volume
        assert loaded["efs"].FileSystem
        assert loaded["iam"].Role
        assert loaded["vpc"].SecurityGroupIngressRule
    return loaded
