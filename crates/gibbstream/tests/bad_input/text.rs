//! Lines of text, and lists of words.

use super::{case, check, text};
use gibbstream::corpus::VocabularyLimits;

#[test]
fn texts() {
    let all = VocabularyLimits::default();
    check(&[
        text(
            b"fine\ncaf\xe9\n",
            "DIR/in.txt:2: is not UTF-8 text at byte 4 of the line; convert the file to UTF-8, for \
             example with `iconv`",
        ),
        text(
            b"\xff\xfec\0a\0t\0",
            "DIR/in.txt: is UTF-16 text; convert it to UTF-8, for example with `iconv -f UTF-16 -t \
             UTF-8`",
        ),
        text(
            b"cut \xf0\x9f",
            "DIR/in.txt:1: is not UTF-8 text at byte 5 of the line; convert the file to UTF-8, for \
             example with `iconv`",
        ),
        text(
            b"a 1 22\n",
            "vocabulary: no word was found in 1 documents; check the input, `text-field`, \
             `stop-words` and `min-length`",
        ),
        text(
            b"\n\n",
            "vocabulary: no word was found in 2 documents; check the input, `text-field`, \
             `stop-words` and `min-length`",
        ),
        text(
            b"cat dog\ncat\n",
            "vocabulary: none of the 2 distinct words of 2 documents is left: 2 are in fewer than 5 \
             documents (`min-df`); lower `min-df`",
        )
        .limited(VocabularyLimits { min_documents: 5, ..all }),
        text(
            b"cat dog\ncat dog\n",
            "vocabulary: none of the 2 distinct words of 2 documents is left: 2 are in more than 0.5 \
             of the documents (`max-df`); raise `max-df`",
        )
        .limited(VocabularyLimits { max_document_share: 0.5, ..all }),
        text(
            b"cat\n",
            "max-df: 1.5 is not a share of the documents; use a number above 0 and at most 1, such \
             as 0.5",
        )
        .limited(VocabularyLimits { max_document_share: 1.5, ..all }),
        text(b"cat\n", "max-vocab: 0 words cannot describe a document; use at least 1")
            .limited(VocabularyLimits { max_words: Some(0), ..all }),
    ]);
}

#[test]
fn vocabularies() {
    let with_words = |words: &'static [u8], message| {
        case(&[("in.txt", b"cat dog"), ("words.txt", words)], message)
            .reading(|inputs, folder| inputs.vocabulary_file = Some(folder.join("words.txt")))
    };
    check(&[
        with_words(b"", "DIR/words.txt: contains no words; a vocabulary file has one word per line"),
        with_words(b"\n\n", "DIR/words.txt: contains no words; a vocabulary file has one word per line"),
        with_words(
            b"cat\n\ndog\n",
            "DIR/words.txt:2: the line is empty; a vocabulary file has one word per line",
        ),
        with_words(
            b"cat\ndog\ncat\n",
            "DIR/words.txt:3: `cat` is already on line 1; every word may occur only once, because \
             documents are matched by spelling",
        ),
        with_words(
            b"cat\nd\xf6g\n",
            "DIR/words.txt:2: is not UTF-8 text at byte 2 of the line; convert the file to UTF-8, \
             for example with `iconv`",
        ),
    ]);
}
