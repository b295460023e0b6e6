//! UCI bags of words.

use super::{Case, case, check};
use gibbstream::corpus::Format;

/// A corpus of two words with the given counts file.
fn uci(docword: &'static [u8], message: &'static str) -> Case {
    case(&[("docword.txt", docword), ("vocab.txt", b"cat\ndog\n")], message)
}

/// A name that says nothing: the content does.
#[test]
fn counts_without_a_vocabulary_are_not_text() {
    check(&[
        case(
            &[("counts.txt", b"2\n2\n2\n1 1 1.5\n2 2 1\n")],
            "DIR/counts.txt: holds UCI counts, but there is no vocab.txt beside it; give the file with the words, one per \
             line, with `vocab`",
        ),
        case(
            &[("counts.txt", b"2\n2\n2\n1 1 1.5\n2 2 1\n"), ("vocab.txt", b"cat\ndog\n")],
            "DIR/counts.txt:4: the count `1.5` is not a whole number; every line after the header is \
             `document word count`, three whole numbers",
        ),
    ]);
}

#[test]
fn uci_headers() {
    check(&[
        uci(
            b"2\n",
            "DIR/docword.txt: the header ends before the number of words; the first three lines are \
             the numbers of documents, words and entries",
        ),
        uci(
            b"2\n2\n",
            "DIR/docword.txt: the header ends before the number of entries; the first three lines \
             are the numbers of documents, words and entries",
        ),
        uci(
            b"two\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `two` is not a number; the first three lines \
             are the numbers of documents, words and entries",
        ),
        uci(
            b"-2\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `-2` is negative; the first three lines are \
             the numbers of documents, words and entries",
        ),
        uci(
            b"2.5\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `2.5` is not a whole number; the first three \
             lines are the numbers of documents, words and entries",
        ),
        uci(
            b"99999999999999999999\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `99999999999999999999` is too large; the \
             first three lines are the numbers of documents, words and entries",
        ),
        uci(
            b"2 2 1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `2 2 1` is not a number; the first three \
             lines are the numbers of documents, words and entries",
        ),
        uci(
            b"1 1 1\n1 2 1\n2 1 1\n",
            "DIR/docword.txt:1: the number of documents `1 1 1` is not a number; the first three \
             lines are the numbers of documents, words and entries",
        ),
        uci(
            b"2\n3\n1\n1 1 1\n",
            "DIR/vocab.txt: holds 2 words, but the header of DIR/docword.txt says 3; use the \
             vocabulary file that belongs to it",
        ),
        uci(
            b"2\n1\n1\n1 1 1\n",
            "DIR/vocab.txt: holds 2 words, but the header of DIR/docword.txt says 1; use the \
             vocabulary file that belongs to it",
        ),
        uci(
            b"2\n2\n3\n1 1 1\n2 1 1\n",
            "DIR/docword.txt:5: the file ends after 2 of the 3 entries that the header promises; the \
             file was cut short, or the header does not belong to it",
        ),
        uci(
            b"2\n2\n1\n1 1 1\n2 1 1\n",
            "DIR/docword.txt:5: there are more entries than the 1 that the header promises; the \
             header does not belong to this file, or the file was changed by hand",
        ),
        uci(
            b"2\n2\n0\n1 1 1\n",
            "DIR/docword.txt:4: there are more entries than the 0 that the header promises; the \
             header does not belong to this file, or the file was changed by hand",
        ),
        uci(
            b"1\n2\n2\n1 1 1\n2 1 1\n",
            "DIR/docword.txt:5: document id 2, but the header promises only 1 documents; the header \
             does not belong to this file, or the file was changed by hand",
        ),
        uci(b"0\n2\n0\n", "DIR/docword.txt: contains no documents; check that this is the right file"),
        uci(
            b"0\n2\n1\n1 1 1\n",
            "DIR/docword.txt:4: document id 1, but the header promises only 0 documents; the header \
             does not belong to this file, or the file was changed by hand",
        ),
        uci(b"", "DIR/docword.txt: contains no documents; check that this is the right file"),
        uci(
            b"\n\n",
            "DIR/docword.txt: the header ends before the number of documents; the first three lines \
             are the numbers of documents, words and entries",
        ),
        case(
            &[("docword.txt", b"1\n2\n1\n1 1 1\n")],
            "DIR/docword.txt: holds UCI counts, but there is no vocab.txt beside it; give the file \
             with the words, one per line, with `vocab`",
        ),
        case(
            &[("counts", b"1\n2\n1\n1 1 1\n")],
            "DIR/counts: holds UCI counts, but there is no vocab.txt beside it; give the file with \
             the words, one per line, with `vocab`",
        ),
        case(
            &[("docword.txt", b"1\n2\n1\n1 1 1\n"), ("vocab.txt", b"cat\ncat\n")],
            "DIR/vocab.txt:2: `cat` is already on line 1; every word may occur only once, because \
             documents are matched by spelling",
        ),
        case(
            &[("docword.txt", b"1\n2\n1\n1 1 1\n"), ("vocab.txt", b"cat\n\n")],
            "DIR/vocab.txt: holds 1 words, but the header of DIR/docword.txt says 2; use the \
             vocabulary file that belongs to it",
        ),
        case(
            &[("x.txt", b"a b c\n"), ("vocab.txt", b"cat\n")],
            "DIR/x.txt:1: the number of documents `a b c` is not a number; the first three lines are \
             the numbers of documents, words and entries",
        )
        .reading(|inputs, _| inputs.format = Format::Uci),
    ]);
}

#[test]
fn uci_entries() {
    check(&[
        uci(
            b"2\n2\n2\n1 1 1\n2 0 1\n",
            "DIR/docword.txt:5: word id 0; ids count from 1; check that this is the docword file, \
             not another format",
        ),
        uci(
            b"2\n2\n2\n1 1 1\n2 3 1\n",
            "DIR/docword.txt:5: word id 3, but there are only 2 words; the header does not belong to \
             this file, or the file was changed by hand",
        ),
        uci(
            b"2\n2\n1\n1 1 -1\n",
            "DIR/docword.txt:4: the count `-1` is negative; every line after the header is `document \
             word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 1.5\n",
            "DIR/docword.txt:4: the count `1.5` is not a whole number; every line after the header \
             is `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 NaN\n",
            "DIR/docword.txt:4: the count `NaN` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 inf\n",
            "DIR/docword.txt:4: the count `inf` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(b"2\n2\n1\n1 1 0\n", "DIR/docword.txt:4: the count is 0; leave out words that do not occur"),
        uci(
            b"2\n2\n1\n1 1 4294967296\n",
            "DIR/docword.txt:4: the count 4294967296 is too large; a count is at most 4294967295",
        ),
        uci(
            b"2\n2\n1\n1 1 18446744073709551616\n",
            "DIR/docword.txt:4: the count `18446744073709551616` is too large; every line after the \
             header is `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 one\n",
            "DIR/docword.txt:4: the count `one` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 +1 1\n",
            "DIR/docword.txt:4: the word id `+1` is not a whole number; every line after the header \
             is `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1,1,1\n",
            "DIR/docword.txt:4: the line has 1 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1\n",
            "DIR/docword.txt:4: the line has 2 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 1 1\n",
            "DIR/docword.txt:4: the line has 4 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 1\0\n",
            "DIR/docword.txt:4: the count `1\\0` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 \xff 1\n",
            "DIR/docword.txt:4: the word id `�` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n0 1 1\n",
            "DIR/docword.txt:4: document id 0; ids count from 1; check that this is the docword \
             file, not another format",
        ),
        uci(
            b"2\n2\n1\n3 1 1\n",
            "DIR/docword.txt:4: document id 3, but the header promises only 2 documents; the header \
             does not belong to this file, or the file was changed by hand",
        ),
        uci(
            b"2\n2\n1\n-1 1 1\n",
            "DIR/docword.txt:4: the document id `-1` is negative; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n2\n2 1 1\n1 1 1\n",
            "DIR/docword.txt:5: unsorted: document id 1 after 2; documents must be in order; sort \
             the lines after the header, for example with `sort -n -k1,1 -s`",
        ),
        uci(
            b"2\n2\n2\n1 1 16777216\n1 2 1\n",
            "DIR/docword.txt:5: document 1 has more than 16777216 tokens; split it into smaller \
             documents",
        ),
        uci(
            b"2\n2\n1\n2 1 4294967295\n",
            "DIR/docword.txt:4: document 2 has more than 16777216 tokens; split it into smaller \
             documents",
        ),
        uci(
            b"3\n2\n3\n1 1 1\n2 1 1\n\n3 2\n",
            "DIR/docword.txt:7: the line has 2 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n2 9 1\n",
            "DIR/docword.txt:4: word id 9, but there are only 2 words; the header does not belong to \
             this file, or the file was changed by hand",
        )
        .reading(|inputs, _| inputs.skip = 1),
    ]);
}
