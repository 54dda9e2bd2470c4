"""Stands before the account: a call that the policies in force do not allow goes no further."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuprov.lab.aws.policy.language import Asked, Policy, allowed
from gpuprov.lab.aws.policy.reading import Memory, UnknownActionError, read
from gpuprov.lab.aws.request import ApiRequest

POLICY_PATH = "/gpuprov-lab/policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Denied:
    """What a call asked for and did not get."""

    action: str
    resource: str
    reason: str


@dataclass(slots=True)
class Guard:
    """The policies that are in force for every caller; without any, everything is allowed.

    Args:
        memory: the account's.
    """

    memory: Memory
    policies: tuple[Policy, ...] | None = None
    asked: dict[str, Asked] = field(default_factory=dict)
    """What was asked for since policies came in force, each once, in order."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held by whoever changes the account's memory."""

    def put_in_force(self, policies: Sequence[Policy]) -> None:
        """Let these policies count from now on.

        Raises:
            ValueError: one is no policy.
        """
        for policy in policies:
            if not isinstance(policy, Mapping) or "Statement" not in policy:
                raise ValueError("a policy is a JSON object with a Statement")
        with self.lock:
            self.policies = tuple(policies)
            self.asked.clear()

    def take_off(self) -> None:
        """Allow everything again."""
        with self.lock:
            self.policies = None

    def refusal(self, call: ApiRequest) -> Denied | None:
        """Why a call is denied; None when it may go on."""
        with self.lock:
            if self.policies is None:
                return None
            try:
                asked = read(call, self.memory)
            except UnknownActionError as error:
                why = "gpuprov lab: its IAM does not know the action; add it to .ci/policy_actions.py"
                return Denied(action=str(error), resource="*", reason=why)
            self.asked |= {repr(one): one for one in asked}
            for one in asked:
                if not allowed(self.policies, one):
                    reason = f"because no identity-based policy allows the {one.action} action"
                    return Denied(action=one.action, resource=one.resource, reason=reason)
            return None

    def listing(self) -> dict[str, Any]:
        """What is in force and what was asked for, as plain JSON."""
        with self.lock:
            rows = [
                {
                    "action": one.action,
                    "resource": one.resource,
                    "context": {k: list(v) for k, v in one.context.items()},
                }
                for one in self.asked.values()
            ]
            return {"policies": list(self.policies or ()), "asked": rows}
