"""`d9m` whose `--quick` tries less: what is tested is what becomes of a check, not how rare a
difference it sees.

    python brief.py 2 check --quick    # two processes of each arm that is compared
"""

import sys

from d9m.__main__ import main
from d9m.check.plan import effort

effort.QUICK = effort.Effort(
    repeats=24, processes=int(sys.argv.pop(1)), budget=0.2, climb=False, total=54.0
)
main()
