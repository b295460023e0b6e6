//! Lines of `word:count`.

use super::{check, named};
use gibbstream::corpus::Inputs;
use std::path::Path;

#[test]
fn pairs() {
    const LDAC: &str = "every line is `pairs word:count word:count ...`, words counted from 0";
    const SVM: &str = "every line is `label word:count word:count ...`, words counted from 1";
    let ldac =
        |content, problem: &str| named("a.ldac", content, format!("DIR/a.ldac{problem}; {LDAC}").leak());
    let svm = |content, problem: &str| named("a.svm", content, format!("DIR/a.svm{problem}; {SVM}").leak());
    let words: fn(&mut Inputs, &Path) = |inputs, folder| {
        std::fs::write(folder.join("words.txt"), "cat\ndog\n").unwrap();
        inputs.vocabulary_file = Some(folder.join("words.txt"));
    };
    check(&[
        ldac(b"1 0:1\n2 0:1\n", ":2: the line promises 2 pairs and has 1"),
        ldac(b"1 0:1 1:1\n", ":1: the line promises 1 pairs and has 2"),
        ldac(b"x 0:1\n", ":1: the number of pairs `x` is not a number"),
        ldac(b"1 0\n", ":1: `0` is not a pair"),
        ldac(b"1 a:1\n", ":1: the word id `a` is not a number"),
        ldac(b"1 -1:1\n", ":1: the word id `-1` is negative"),
        ldac(b"1 0:x\n", ":1: the count `x` is not a number"),
        ldac(b"1 0:1.5\n", ":1: the count `1.5` is not a whole number"),
        ldac(b"1 0:-2\n", ":1: the count `-2` is negative"),
        ldac(b"1 0:4294967296\n", ":1: the count 4294967296 is larger than 4294967295"),
        ldac(b"1 2:1\n", ":1: word id 2, but there are only 2 words").reading(words),
        svm(b"1 1:1\n1:1\n", ":2: the line begins without a label"),
        svm(b"1 1:1 two\n", ":1: `two` is not a pair"),
        svm(b"1 0:1\n", ":1: word id 0, but ids count from 1"),
        svm(b"1 3:1\n", ":1: word id 3, but there are only 2 words").reading(words),
        svm(b"1 1:nan\n", ":1: the count `nan` is not a number"),
        svm(b"1 1:inf\n", ":1: the count `inf` is not a number"),
        svm(b"1 1:\n", ":1: the count `` is not a number"),
        svm(b"1 1:1e300\n", ":1: the count `1e300` is not a whole number"),
        svm(b"1 99999999999999999999:1\n", ":1: the word id `99999999999999999999` is too large"),
        named("a.svm", b"# nothing\n", "DIR/a.svm: contains no documents; check that this is the right file"),
    ]);
}
