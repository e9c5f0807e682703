"""The doctor: checks of the installation, the machine and the store."""
