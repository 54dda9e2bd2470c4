"""The variables that live checks need: what each is for, and one sentence when it is missing or wrong."""

import os
import re
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable of the environment."""

    form: str
    """Regular expression of the whole value."""
    wanted: str
    """What it must be, as the end of the sentence `set NAME to ...`."""


VARIABLES = {
    "GPUPROV_LIVE_ACCOUNT": Variable(
        form=r"\d{12}",
        wanted="the number (12 digits) of an AWS account kept for tests, in which nothing else happens meanwhile",
    ),
    "GPUPROV_LIVE_REGION": Variable(
        form=r"[a-z]{2}(-[a-z]+)+-\d+", wanted="a region of that account, such as eu-central-1"
    ),
    "GPUPROV_LIVE_PROFILE": Variable(
        form=r"\S+", wanted="the profile of ~/.aws/config whose caller may make EC2, S3 and IAM resources there"
    ),
    "GPUPROV_LIVE_SPEND": Variable(
        form="yes",
        wanted="yes to let this check spend money: it runs one instance of the smallest GPU type, a builder, disks and"
        " an image in that account, for about two hours, and removes them",
    ),
    "GPUPROV_LIVE_GPU_HOST": Variable(
        form=r"[\w.@-]+",
        wanted="the ssh name of a host with an NVIDIA GPU and a loaded driver, reached by a key file (the agent is not"
        " asked); it is only looked at",
    ),
}


def needed(name: str) -> str:
    """A variable's value; without one, or with another form, the check fails with one sentence."""
    variable = VARIABLES[name]
    value = os.environ.get(name, "")
    if not re.fullmatch(variable.form, value):
        found = f"it is {value!r}" if value else "it is not set"
        pytest.fail(f"set {name} to {variable.wanted}; {found}", pytrace=False)
    return value
