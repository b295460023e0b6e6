//! Matrix Market files.

use super::{check, named};

#[test]
fn matrix_market() {
    const ENTRY: &str = "every line after the header is `row column count`, whole numbers";
    const SIZES: &str = "after the comments comes a line with the numbers of rows, columns and entries";
    let market = |content, message: String| named("a.mtx", content, message.leak());
    let first = "DIR/a.mtx:1: is not the first line of a sparse Matrix Market file of counts; it should be \
                 `%%MatrixMarket matrix coordinate integer general`";
    check(&[
        market(b"%%MatrixMarket matrix array integer general\n2 2\n1\n", first.into()),
        market(b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", first.into()),
        market(b"%%MatrixMarket matrix coordinate integer symmetric\n1 1 1\n1 1 1\n", first.into()),
        market(b"%%MatrixMarket\n", first.into()),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n% x\n",
            format!("DIR/a.mtx: the header ends before the sizes; {SIZES}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2\n",
            format!("DIR/a.mtx:2: the sizes are not three whole numbers; {SIZES}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 0.5\n",
            format!("DIR/a.mtx:3: the count `0.5` is not a whole number; {ENTRY}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1\n",
            format!("DIR/a.mtx:3: the line has 2 fields; {ENTRY}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 x 1\n",
            format!("DIR/a.mtx:3: the column `x` is not a number; {ENTRY}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 1\n1 2 1\n",
            "DIR/a.mtx:4: unsorted: document id 1 after 2; documents must be in order; sort the lines after the \
             header, for example with `sort -n -k1,1 -s`"
                .into(),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 1\n",
            "DIR/a.mtx:3: the file ends after 1 of the 2 entries that the header promises; the file was cut short, or \
             the header does not belong to it"
                .into(),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 3 1\n",
            "DIR/a.mtx:3: word id 3, but there are only 2 words; the header does not belong to this file, or the file \
             was changed by hand"
                .into(),
        ),
    ]);
}
