"""The programs inside the stand-in packages; they run on nodes, with the node's own python3 and nothing else.

Owns: nvidia-smi, nvidia-modprobe, the daemons, the container runtime, the exporter, the unit that plays the hardware.
Takes: the recorded output forms and a few values, packed beside the program when a package is built.
Gives: one executable file per program (a zip application, see `gpuprov.lab.vendor.payload`).
Must not: import anything outside this folder and the standard library.
"""
