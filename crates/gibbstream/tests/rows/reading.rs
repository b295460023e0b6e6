//! Rows of numbers from CSV and NumPy files, and the words for what is wrong with them.

use gibbstream::corpus::{Format, Inputs, NumericRows, Row};
use gibbstream::file::npy::write_npy;
use gibbstream::model::rows::observations::Domain;
use std::path::Path;

/// Reads files of the folder.
fn read(
    folder: &Path,
    files: &[&str],
    domain: Domain,
    expected: Option<&[String]>,
) -> gibbstream::Result<Vec<Row>> {
    let paths = files.iter().map(|file| folder.join(file)).collect();
    let inputs = Inputs { paths, ..Inputs::default() }.resolve()?;
    NumericRows::new(&inputs, domain, expected)?.read().collect()
}

fn values(rows: &[Row]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.values.clone()).collect()
}

#[test]
fn tables_and_arrays_hold_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("a.csv"), "id,a,b\nx,1,-2.5\ny,3e2,4\n").unwrap();
    std::fs::write(path.join("b.tsv"), "b\ta\n 7 \t8\n").unwrap();
    write_npy(path.join("c.npy"), &[1, 2], [9.0, 10.0]).unwrap();
    let rows = read(path, &["a.csv", "b.tsv", "c.npy"], Domain::Real, None).unwrap();
    assert_eq!(values(&rows), [[1.0, -2.5], [300.0, 4.0], [8.0, 7.0], [9.0, 10.0]]);
    assert_eq!(rows[1].id.as_deref(), Some("y"));
    let expected = ["b".to_string(), "a".to_string()];
    assert_eq!(values(&read(path, &["a.csv"], Domain::Real, Some(&expected)).unwrap())[0], [-2.5, 1.0]);
    let inputs = Inputs { paths: vec![path.join("a.csv")], skip: 1, limit: Some(1), ..Inputs::default() };
    let rows = NumericRows::new(&inputs.resolve().unwrap(), Domain::Real, None).unwrap();
    assert_eq!(rows.columns(), ["a", "b"]);
    assert_eq!(values(&rows.read().collect::<Result<Vec<_>, _>>().unwrap()), [[300.0, 4.0]]);
}

/// Every integer and float that NumPy writes.
#[test]
fn arrays_of_all_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    for (descr, bytes, expected) in [
        ("<f2", vec![0, 0x3e], 1.5),
        (">f2", vec![0x80, 0x01], -5.960_464_477_539_063e-8),
        ("<f2", vec![0xff, 0x7b], 65504.0),
        ("<f4", vec![0, 0, 0xc0, 0x3f], 1.5),
        (">f8", vec![0xbf, 0xf8, 0, 0, 0, 0, 0, 0], -1.5),
        ("|i1", vec![0xfe], -2.0),
        ("<i2", vec![0xfe, 0xff], -2.0),
        (">u2", vec![1, 2], 258.0),
        ("<u4", vec![0xff; 4], f64::from(u32::MAX)),
        ("<i8", vec![0xff; 8], -1.0),
        ("|b1", vec![1], 1.0),
    ] {
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
        header += &" ".repeat(117 - header.len());
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        file.extend(header.as_bytes());
        file.extend(&bytes);
        std::fs::write(&path, file).unwrap();
        assert_eq!(
            values(&read(folder.path(), &["x.npy"], Domain::Real, None).unwrap()),
            [[expected]],
            "{descr}"
        );
    }
}

#[test]
fn flaws_are_told_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let columns = ["a".to_string(), "b".to_string()];
    for (content, domain, expected, message) in [
        (
            "1,2\n3,4\n",
            Domain::Real,
            None,
            "bad.csv:1: the first row holds numbers where the names of the columns should be",
        ),
        ("a,b\n1,2\n3,x\n", Domain::Real, None, "bad.csv:3: column `b`: `x` is not a number"),
        ("a,b\n1,\n", Domain::Real, None, "bad.csv:2: column `b`: the field is empty"),
        ("a,b\n1,2,3\n", Domain::Real, None, "bad.csv:2: the record has 3 fields instead of 2"),
        ("a,b\n1,nan\n", Domain::Real, None, "bad.csv:2: column `b`: NaN is not a finite number"),
        ("a,b\n1,inf\n", Domain::Real, None, "bad.csv:2: column `b`: inf is not a finite number"),
        ("a,b\n1,-2\n", Domain::Counts, None, "bad.csv:2: column `b`: -2 is not a count"),
        ("a,b\n1,2\n", Domain::Binary, None, "bad.csv:2: column `b`: 2 is not an answer, that is 0 or 1"),
        ("a,a\n1,2\n", Domain::Real, None, "bad.csv:1: two columns are called `a`"),
        ("id\n1\n", Domain::Real, None, "bad.csv:1: there is no column of numbers"),
        ("a,b\n", Domain::Real, None, "contains no documents"),
        (
            "a,b,c\n1,2,3\n",
            Domain::Real,
            Some(&columns[..]),
            "bad.csv: has 3 columns of numbers instead of 2",
        ),
        ("a,c\n1,2\n", Domain::Real, Some(&columns[..]), "bad.csv: has no column `b`"),
    ] {
        std::fs::write(path.join("bad.csv"), content).unwrap();
        let error = read(path, &["bad.csv"], domain, expected).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("; "), "{content:?}: {error}");
    }
    std::fs::write(path.join("bad.jsonl"), "{}\n").unwrap();
    let error = read(path, &["bad.jsonl"], Domain::Real, None).unwrap_err().to_string();
    assert!(error.contains("bad.jsonl: is jsonl, not rows of numbers"), "{error}");
    write_npy(path.join("three.npy"), &[1, 1, 1], [1.0]).unwrap();
    let error = read(path, &["three.npy"], Domain::Real, None).unwrap_err().to_string();
    assert!(error.contains("has shape (1, 1, 1) instead of observations x values"), "{error}");
    write_npy(path.join("cut.npy"), &[2, 2], [1.0; 4]).unwrap();
    let bytes = std::fs::read(path.join("cut.npy")).unwrap();
    for length in [3, 9, 60, 130, bytes.len() - 1] {
        std::fs::write(path.join("cut.npy"), &bytes[..length]).unwrap();
        assert!(read(path, &["cut.npy"], Domain::Real, None).is_err(), "{length} bytes");
    }
    assert_eq!("npy".parse::<Format>().unwrap(), Format::Npy);
}

#[test]
fn bad_rows_are_passed_over_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "a\n1\nx\n2\n\nnan\n3\n").unwrap();
    let inputs = Inputs { paths: vec![path], skip_bad: true, ..Inputs::default() }.resolve().unwrap();
    let rows: Vec<Row> =
        NumericRows::new(&inputs, Domain::Real, None).unwrap().read().collect::<Result<_, _>>().unwrap();
    assert_eq!(values(&rows), [[1.0], [2.0], [3.0]]);
    let bad: Vec<_> = inputs.bad_records().into_iter().collect();
    assert_eq!(bad, [("not a number", 1), ("value out of range", 1)]);
}
