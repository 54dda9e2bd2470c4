"""What `parity` found, in the forms that CI systems and people's browsers read."""
