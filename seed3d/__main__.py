"""`python -m seed3d`: the command line."""

from seed3d.cli import main

main()
