"""Identity in the lab's account, where moto alone would answer otherwise than IAM."""

import pytest
from lab_account import Cloud

pytestmark = pytest.mark.slow  # starts AWS's stand-in: not for `make quick`


def test_a_role_that_is_not_in_a_profile_is_not_found_there(paper_cloud: Cloud) -> None:
    iam = paper_cloud.client("iam")
    iam.create_role(RoleName="spare", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="spare")
    iam.add_role_to_instance_profile(InstanceProfileName="spare", RoleName="spare")
    iam.remove_role_from_instance_profile(InstanceProfileName="spare", RoleName="spare")
    with pytest.raises(iam.exceptions.NoSuchEntityException):
        iam.remove_role_from_instance_profile(InstanceProfileName="spare", RoleName="spare")
    iam.delete_instance_profile(InstanceProfileName="spare")
    iam.delete_role(RoleName="spare")
