"""The commented example that `gpuprov init` writes; a test loads it, so it cannot rot."""

from typing import Final

_SPEC: Final = """\
# A spec of gpuprov: what the hosts of a site must be. `gpuprov validate` checks it.
# Versions are quoted text: YAML would read 12.10 as 12.1.
apiVersion: gpuprov/v1
name: example                          # name of the site
os: debian-12                          # debian-12 | debian-13; a pool may differ

# Where packages come from, beside the OS archive. gpuprov trusts a repository only by the key that you name here:
# get it from the vendor, compare its fingerprint
#   {fingerprint}
# and keep it beside this file.
sources:
  nvidia:
    type: apt
    url: "{url}"
    flat: true                         # a repository without suites
    key: keys/nvidia.asc               # relative to this file

# The software stack of all pools. A part that is left out, or null, is not wanted.
stack:
  driver:
    version: "580.*"                   # `gpuprov lock` makes one exact version of it; nothing else moves it
    modules: open                      # open | proprietary
    source: nvidia                     # nvidia | os | a name from sources
  cuda: "13.0"                         # toolkit, major.minor
  container: {{engine: docker, toolkit: "1.18.*"}}
  fabric: auto                         # Fabric Manager, equal to the driver, where the GPU needs it
  dcgm: "4.*"
  packages: [htop]                     # anything else that the sources hold, or {{name: jq, version: "1.*"}}

# Pools are hosts that are equal by intention.
pools:
  train:
    gpu: {{model: H100-SXM5-80GB, per_host: 8}}
    onprem: {{group: train}}             # group of the inventory
    # cloud: {{instance: p5.48xlarge, hosts: [train-a, train-b]}}
    rollout: {{batch: 25%}}              # hosts changed at a time: a number or a percentage
    # rollout: {{batch: 25%, canary: 1, spread: rack, max_failures: 1, window: "22:00-06:00 local", drain: slurm}}
  login:
    gpu: none                          # no GPU: the stack is installed, nothing is loaded
    onprem: {{group: login}}
    # cloud: {{instance: m7i.large, count: 1}}
    stack: {{dcgm: null}}                # overrides, field by field
    verify: []

files:
  "/etc/motd": {{text: "Managed by gpuprov\\n", mode: "0644"}}

monitoring: {{exporters: [node, dcgm]}}  # ports 9100 and 9400

verify: ["nvidia-smi -L"]              # commands that must succeed on a host after it was changed

targets:
  onprem: {{inventory: inventory/site.yml}}
  # The same pools on AWS. Take the marks away here, at the pools and at storage, and fill in your own.
  # cloud:
  #   account: "111122223333"          # it must be the account of your credentials
  #   region: us-east-1
  #   network:
  #     cidr: 10.20.0.0/16
  #     ranges: {{office: [203.0.113.0/24], monitoring: [198.51.100.7/32]}}   # never the whole world
  #     ssh_from: [office]
  #     open: [{{port: 9100, ranges: [monitoring]}}, {{port: 9400, ranges: [monitoring]}}]
  #     public: false                  # no public addresses: they reach out by NAT, and are reached by `jump` or a VPN
  #   jump: {{host: bastion.example, user: ops}}   # its host key is checked against your known_hosts
  #   login_keys: agent                # the keys of your SSH agent, or files of public keys

# What keeps data beside the cloud hosts: a bucket for all of them, and an encrypted disk for each.
# storage:
#   datasets: {{kind: object, prefixes: [raw/, runs/]}}
#   scratch: {{kind: volume, size: 500GiB}}

# Who may log in besides, and how the hosts are tuned; what is taken out again is locked or put back, and no data goes.
# access:
#   groups:
#     ml:
#       members:
#         # The line of a .pub file, for each key.
#         - {{name: ana, keys: []}}
#       sudo: ["/usr/bin/nvidia-smi"]
# tuning: {{sysctl: {{vm.swappiness: "10"}}, limits: {{memlock: unlimited}}}}

# Differences that you accept until a date, each with its reason:
# parity:
#   waivers:
#     - {{facet: host.kernel.release, reason: "kernels follow the OS", until: 2027-03-01}}

# What rules warn of or cannot decide, and you take upon yourself until a date. What they refuse stays refused; where
# the catalog lacks a row, write one into a folder and name that with `catalog:`.
# accept:
#   - {{rule: GP-RULE-004, reason: "the move to the next branch is planned for spring", until: 2027-03-01}}
"""

_INVENTORY: Final = """\
# An Ansible inventory. gpuprov reads what you have, in YAML or INI, with group and host variables; versions are not its
# business. Host keys are checked against your known_hosts; login keys come from your ssh agent, or from
# ansible_ssh_private_key_file.
all:
  vars:
    ansible_user: admin                # a user who may use sudo
  children:
    train:
      hosts:
        gpu-[01:02].example.org:
    login:
      hosts:
        login.example.org:
          ansible_host: 192.0.2.10     # address, where the name does not resolve
          ansible_port: 22
"""


def fill_spec(url: str, fingerprint: str) -> str:
    """The example spec with NVIDIA's repository filled in.

    Args:
        url: root of the repository.
        fingerprint: of its signing key.
    """
    return _SPEC.format(url=url, fingerprint=fingerprint)


def inventory_text() -> str:
    """The example inventory."""
    return _INVENTORY
