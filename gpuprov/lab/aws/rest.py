"""Calls of services that name their action by method and path: EFS, and resource groups."""

import re
from typing import Final

_ID: Final = r"/[a-z0-9-]+"
_EFS: Final = (
    ("POST", "file-systems", "CreateFileSystem"),
    ("GET", rf"file-systems({_ID})?", "DescribeFileSystems"),
    ("PUT", rf"file-systems{_ID}", "UpdateFileSystem"),
    ("DELETE", rf"file-systems{_ID}", "DeleteFileSystem"),
    ("GET", rf"file-systems{_ID}/lifecycle-configuration", "DescribeLifecycleConfiguration"),
    ("GET", rf"file-systems{_ID}/policy", "DescribeFileSystemPolicy"),
    ("GET", rf"file-systems{_ID}/backup-policy", "DescribeBackupPolicy"),
    ("POST", "mount-targets", "CreateMountTarget"),
    ("GET", "mount-targets", "DescribeMountTargets"),
    ("DELETE", rf"mount-targets{_ID}", "DeleteMountTarget"),
    ("GET", rf"mount-targets{_ID}/security-groups", "DescribeMountTargetSecurityGroups"),
    ("PUT", rf"mount-targets{_ID}/security-groups", "ModifyMountTargetSecurityGroups"),
    ("POST", rf"resource-tags{_ID}", "TagResource"),
    ("DELETE", rf"resource-tags{_ID}", "UntagResource"),
    ("GET", rf"resource-tags{_ID}", "ListTagsForResource"),
)
"""Method, path without its version, and action (EFS API Reference, Actions, read 2026-11-30)."""
_VERSION: Final = re.compile(r"/\d{4}-\d{2}-\d{2}/")


def rest_action(service: str, method: str, path: str) -> str:
    """Return IAM's action; empty when it cannot be told."""
    if service == "resource-groups":
        return {"/list-group-resources": "ListGroupResources"}.get(path, "")
    if service != "elasticfilesystem":
        return ""
    rest = _VERSION.sub("", path, count=1).rstrip("/")
    return next((action for verb, form, action in _EFS if verb == method and re.fullmatch(form, rest)), "")
