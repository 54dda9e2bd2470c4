"""NVIDIA's half of the lab: a signed repository of stand-in packages, and the simulated hardware that they drive.

Owns: the packages' descriptions (packages/*.yaml), the programs in them (standin/), the repository, the hardware unit.
Takes: a folder to publish into, which driver releases to offer, a node's `GpuDescription`.
Gives: `repository.build(...) -> VendorRepository`, `hardware.hardware_files(...)`.
Must not: be imported by any room but the lab, ship anything of NVIDIA's, or replace a program of the node's own OS.
"""
