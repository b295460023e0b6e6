//! Tables with commas or tabs.

use super::compressed::{cut, gzip, long_text, packed};
use super::{check, named};

#[test]
fn tables() {
    check(&[
        named("a.csv", b"", "DIR/a.csv: contains no documents; check that this is the right file"),
        named("a.csv", b"id,text\n", "DIR/a.csv: contains no documents; check that this is the right file"),
        named(
            "a.csv",
            b"id,body\n1,cat\n",
            "DIR/a.csv:1: has no column `text` (columns: `id`, `body`); name the column that holds the text with \
             `text-field`",
        ),
        named(
            "a.csv",
            b"id,text\n1,cat\n2,dog,emu\n",
            "DIR/a.csv:3: the record has 3 fields instead of 2; every record has as many fields as the first; quote \
             fields that contain a separator",
        ),
        named(
            "a.csv",
            b"id,text\n1,\"cat\ndog\"\n2\n",
            "DIR/a.csv:4: the record has 1 fields instead of 2; every record has as many fields as the first; quote \
             fields that contain a separator",
        ),
        named(
            "a.csv",
            b"id,text\n1,\"a \"\"cat\"\"\"\n2,5\" disk\n3,\"dog\n4,emu\n",
            "DIR/a.csv:4: a quote is opened here and never closed, so the rest of the file would be one field; close it, \
             or double quotes that are part of the text",
        ),
        named(
            "a.csv",
            b"id,text\n1,caf\xe9\n",
            "DIR/a.csv:2: column `text` is not UTF-8 text at its byte 4; convert the file to UTF-8, for example with \
             `iconv`",
        ),
        named(
            "a.csv",
            b"id,text\n\xff,cat\n",
            "DIR/a.csv:2: column `id` is not UTF-8 text at its byte 1; convert the file to UTF-8, for example with \
             `iconv`",
        ),
        named(
            "a.tsv",
            b"id,text\n1,cat\n",
            "DIR/a.tsv:1: has no column `text` (columns: `id,text`); name the column that holds the text with \
             `text-field`",
        ),
        packed(
            "a.csv",
            cut(gzip(&[b"text\n".to_vec(), long_text()].concat())),
            "DIR/a.csv:1: ends in the middle of its gzip data; the file was cut short; copy or download it again",
        ),
        named(
            "a.parquet",
            b"PAR1PAR1",
            "DIR/a.parquet: damaged Parquet data (EOF: Parquet file too small. Size is 8 but need 827474264); check that \
             the file is whole; write or copy it again",
        ),
    ]);
}
