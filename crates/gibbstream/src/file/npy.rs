//! Arrays for NumPy: the `.npy` format, version 1.0, for 64-bit floats.
//!
//! Values are written as they come, so an array of any size needs no memory.

use std::path::Path;

use crate::error::{Error, Result};
use crate::file::new_file::NewFile;

/// NumPy 1 refuses arrays of more dimensions than this.
const MOST_DIMENSIONS: usize = 32;

/// Writes `values` (last index fastest) as an array of the given shape to `path`.
///
/// The file appears under its name only when it is complete. The number of values must be the product of the
/// shape.
pub fn write_npy(
    path: impl AsRef<Path>,
    shape: &[usize],
    values: impl IntoIterator<Item = f64>,
) -> Result<()> {
    let path = path.as_ref();
    let expected = shape.iter().try_fold(1_usize, |product, &side| product.checked_mul(side));
    let (Some(expected), true) = (expected, shape.len() <= MOST_DIMENSIONS) else {
        return Err(Error::setting(
            "shape",
            format!("{shape:?} is too large"),
            "write several smaller arrays",
        ));
    };
    let mut file = NewFile::create(path)?;
    file.write(&header(shape))?;
    let mut written = 0_usize;
    // One value too many is enough to know.
    for value in values.into_iter().take(expected.saturating_add(1)) {
        file.write(&value.to_le_bytes())?;
        written += 1;
    }
    if written != expected {
        let found = if written > expected { "more".to_string() } else { format!("only {written}") };
        return Err(Error::setting(
            "shape",
            format!("{shape:?} needs {expected} values and there are {found}"),
            "give one value for every cell of the array",
        ));
    }
    file.finish()
}

/// Magic number, version, and the description of the array, padded so that the values begin at a multiple of 64
/// bytes.
fn header(shape: &[usize]) -> Vec<u8> {
    let sides: Vec<String> = shape.iter().map(ToString::to_string).collect();
    // Python writes (3,) for one dimension and (2, 3) for two.
    let sides = sides.join(", ") + if shape.len() == 1 { "," } else { "" };
    let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sides}), }}");
    let before = b"\x93NUMPY\x01\x00".len() + 2;
    let padding = (before + text.len() + 1).next_multiple_of(64) - before - 1 - text.len();
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::process::Command;

    use super::*;

    #[test]
    fn bytes_are_exactly_those_of_numpy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write_npy(&path, &[2, 2], [1.0, -2.5, f64::INFINITY, 0.0]).unwrap();
        let bytes = fs::read(&path).unwrap();
        let mut expected = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        expected.extend(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }");
        expected.resize(127, b' ');
        expected.push(b'\n');
        expected.extend(b"\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x04\xc0\0\0\0\0\0\0\xf0\x7f\0\0\0\0\0\0\0\0");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn shapes_are_written_as_python_tuples() {
        let shown = |shape: &[usize]| String::from_utf8_lossy(&header(shape)[10..]).into_owned();
        assert!(shown(&[]).contains("'shape': (), "));
        assert!(shown(&[7]).contains("'shape': (7,), "));
        assert!(shown(&[0, 12]).contains("'shape': (0, 12), "));
        for side in [1, 99, 123_456, usize::MAX] {
            assert_eq!(header(&[side]).len() % 64, 0);
            assert_eq!(header(&[side, side, side]).len() % 64, 0);
        }
    }

    #[test]
    fn wrong_number_of_values_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        for count in [0, 2, 4, 1_000_000] {
            let refused = write_npy(&path, &[3], std::iter::repeat_n(1.0, count));
            assert!(matches!(refused, Err(Error::Setting { .. })), "{count} values");
        }
        assert!(write_npy(&path, &[usize::MAX, 2], []).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let refused = write_npy(folder.path().join("absent/a.npy"), &[1], [1.0]).unwrap_err().to_string();
        assert!(refused.contains("absent") && refused.contains("cannot create"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn file_has_the_permissions_of_an_ordinary_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, plain) = (folder.path().join("a.npy"), folder.path().join("plain"));
        write_npy(&path, &[1], [1.0]).unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path), mode(&plain));
    }

    #[test]
    fn numpy_reads_it() {
        let python = |code: &str| Command::new("python3").args(["-c", code]).output();
        if !python("import numpy").is_ok_and(|output| output.status.success()) {
            // Written past the harness, which hides what passing tests print.
            writeln!(std::io::stderr(), "SKIPPED: numpy_reads_it needs python3 with numpy").unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one.npy"), folder.path().join("two.npy"));
        write_npy(&one, &[3], [0.1, -1e300, 5e-324]).unwrap();
        write_npy(&two, &[2, 3], (0..6).map(f64::from)).unwrap();
        let code = format!(
            "import numpy as n; a = n.load({one:?}); b = n.load({two:?})\n\
             assert a.dtype == n.float64 and a.tolist() == [0.1, -1e300, 5e-324], a\n\
             assert b.flags.c_contiguous and b.tolist() == [[0, 1, 2], [3, 4, 5]], b"
        );
        let output = python(&code).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
