"""The tables that the advisor on the page joins: the resolver's answers for every environment that
it offers.

All knowledge of versions ends here. A condition or a source is asked in each
environment for every combination of facts, and what it answers is a *tensor*;
equal ones are stored once, and the row of an environment is a list of indices.
"""

from __future__ import annotations

from advisor.tables import tables

__all__ = ["tables"]
