"""`python -m penstock.cli`: the command line."""

from penstock.cli import main

main()
