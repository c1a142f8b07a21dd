"""`python3 -m knowhow_server`, as the npm package calls it."""

from . import main

main()
