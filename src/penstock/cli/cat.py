"""`penstock cat`: several files joined into one."""

from __future__ import annotations

import click

from penstock.cli.inputs import files_of, framed, read_frames, total_bytes
from penstock.cli.output import compression_option, json_option, overwrite_option, print_json, progress, say
from penstock.cli.render import count_text, escape
from penstock.cli.writing import compression_for
from penstock.records.writer import TFRecordWriter

__all__ = ["command"]


@click.command("cat")
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.argument("target", metavar="DST")
@compression_option
@overwrite_option
@json_option
def command(
    sources: tuple[str, ...], target: str, compression: str | None, overwrite: bool, as_json: bool
) -> None:
    """Join files into one, record by record: payloads stay as they are, in order.

    Every checksum is checked on the way; damage stops the job and leaves nothing behind.

    Example: penstock cat part-*.tfrecord all.tfrecord.gz
    """
    paths = files_of(sources)
    name = compression_for(target, compression)
    records = 0
    with (
        TFRecordWriter(target, name, overwrite=overwrite) as writer,
        progress("cat", total_bytes(paths)) as advance,
    ):
        for _, frames in read_frames(paths, advance):
            writer.write_frames(framed(frames, 0, len(frames)))
            records += len(frames)
    if as_json:
        print_json({"files": paths, "target": target, "compression": name, "records": records})
    else:
        say(f"{escape(target)}: {count_text(records, 'record')} from {count_text(len(paths), 'file')}")
