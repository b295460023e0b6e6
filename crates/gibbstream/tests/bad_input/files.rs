//! Files that are not there, or not what they should be.

use super::{case, check, json, text};
use gibbstream::corpus::Format;

#[test]
fn files() {
    check(&[
        case(&[], "DIR/missing.txt: cannot open: No such file or directory (os error 2)")
            .reading(|inputs, folder| inputs.paths = vec![folder.join("missing.txt")]),
        case(&[], "DIR/no/such/folder.jsonl: cannot open: No such file or directory (os error 2)")
            .reading(|inputs, folder| inputs.paths = vec![folder.join("no/such/folder.jsonl")]),
        case(&[], "INPUT: no input is given; name a file, or `-` for standard input")
            .reading(|inputs, _| inputs.paths = Vec::new()),
        case(&[], "INPUT: `-` is named twice; standard input can be read only once")
            .reading(|inputs, _| inputs.paths = vec!["-".into(), "-".into()]),
        case(
            &[],
            "DIR: is a folder without a docword file (docword.txt, also .gz, .zst, .bz2 or .xz); \
             name a file inside it, or a folder with a UCI corpus",
        )
        .reading(|inputs, folder| inputs.paths = vec![folder.into()]),
        case(&[("a.txt", b"x")], "DIR: is a folder, not a file; name a file inside it").reading(
            |inputs, folder| {
                inputs.paths = vec![folder.into()];
                inputs.format = Format::Text;
            },
        ),
        case(
            &[("docword.a.txt", b""), ("docword.b.txt", b"")],
            "DIR: holds several docword files (docword.a.txt, docword.b.txt); name one of them \
             instead of the folder",
        )
        .reading(|inputs, folder| inputs.paths = vec![folder.into()]),
        text(b"", "DIR/in.txt: contains no documents; check that this is the right file"),
        text(b"\xef\xbb\xbf", "DIR/in.txt: contains no documents; check that this is the right file"),
        json(b"", "DIR/in.jsonl: contains no documents; check that this is the right file"),
        json(b"\n  \n", "DIR/in.jsonl: contains no documents; check that this is the right file"),
        case(
            &[("a.txt", b"cat"), ("b.txt", b"")],
            "DIR/b.txt: contains no documents; check that this is the right file",
        )
        .reading(|inputs, folder| inputs.paths.push(folder.join("b.txt"))),
        text(
            b"cat\ndog\n",
            "DIR/in.txt: the input holds 2 documents, and 2 were to be skipped; skip fewer documents \
             (`skip-docs`, `holdout`)",
        )
        .reading(|inputs, _| inputs.skip = 2),
        text(
            b"cat\ndog\n",
            "DIR/in.txt: the input holds 2 documents, and 99 were to be skipped; skip fewer \
             documents (`skip-docs`, `holdout`)",
        )
        .reading(|inputs, _| inputs.skip = 99),
        case(
            &[("a.txt", b"cat"), ("b.txt", b"dog")],
            "DIR/b.txt: the inputs end here and hold 2 documents, and 2 were to be skipped; skip \
             fewer documents (`skip-docs`, `holdout`)",
        )
        .reading(|inputs, folder| {
            inputs.paths.push(folder.join("b.txt"));
            inputs.skip = 2;
        }),
        text(b"cat\n", "limit-docs: 0 documents would be read; use at least 1")
            .reading(|inputs, _| inputs.limit = Some(0)),
        text(b"cat\n", "ngrams: 9 is not between 1 and 5; 1 means single words, 2 adds pairs")
            .reading(|inputs, _| inputs.tokenizer.ngrams = 9),
        text(b"cat\n", "DIR/words.txt: cannot open: No such file or directory (os error 2)")
            .reading(|inputs, folder| inputs.vocabulary_file = Some(folder.join("words.txt"))),
    ]);
}
