"""d9m: what to set, in this version, on this machine, so that the same run gives the same bits."""

from d9m.about import __version__ as __version__
