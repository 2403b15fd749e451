"""`penstock repair`: the good records of a damaged file."""

from __future__ import annotations

import click

from penstock.cli.damage import json_damage, say_damage
from penstock.cli.limits import Limits, limits_options
from penstock.cli.output import json_option, overwrite_option, print_json, say
from penstock.cli.parallel import for_each_file
from penstock.cli.writing import written_to
from penstock.records.repair import repair_file
from penstock.show.render import count_text, escape

__all__ = ["command"]


@click.command("repair")
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@overwrite_option
@limits_options
@json_option
def command(source: str, target: str, overwrite: bool, limits: Limits, as_json: bool) -> None:
    """Save the good records of SRC to DST, byte for byte, and report what is lost.

    SRC is not changed. DST appears only when it is whole. Exits with 0 once the good records are saved, however many
    were lost; the report names each. A schema that penstock keeps beside SRC is kept beside DST too.

    Example: penstock repair damaged.tfrecord good.tfrecord
    """
    [(_, future)] = for_each_file(
        "repair",
        lambda path, tell: repair_file(path, target, overwrite=overwrite, progress=tell, **limits),
        [source],
    )
    with written_to(target):
        report = future.result()
    if as_json:
        print_json({"target": target, **json_damage(report)})
        return
    lost = count_text(len(report.damage), "damaged place") if report.damage else "no damage"
    say(f"{escape(target)}: {count_text(report.records, 'good record')} saved, {lost}")
    say_damage(report)
