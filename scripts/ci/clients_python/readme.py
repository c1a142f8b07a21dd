"""Runs the Python blocks of pages, each page as one program, twice: a reader who begins again must not meet an error.

    readme.py PAGE ...    needs the variables of with_service.sh
"""

import re
import subprocess
import sys
from pathlib import Path


def main():
    """Runs each page."""
    for page in sys.argv[1:]:
        blocks = re.findall(r"^```python\n(.*?)^```$", Path(page).read_text(), flags=re.M | re.S)
        if not blocks:
            sys.exit(f"error: {page} has no Python block")
        for _ in (1, 2):
            done = subprocess.run([sys.executable, "-"], input="\n".join(blocks), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                sys.exit(f"error: a block of {page} fails:\n{done.stdout}")
        print(f"the {len(blocks)} Python blocks of {page} run, twice")


if __name__ == "__main__":
    main()
