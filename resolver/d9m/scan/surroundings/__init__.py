"""From the versions that files state to the environment of each folder."""
