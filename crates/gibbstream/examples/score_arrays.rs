//! Scores topics that came from anywhere: `beta.npy` (K x V, 64-bit floats, rows sum to 1) and `alpha.npy` (K),
//! on the same documents and with the same estimator as our own. The comparison with other programs uses it.
//!
//!     cargo run --release -p gibbstream --example score_arrays -- \
//!         --beta beta.npy --alpha alpha.npy --corpus FOLDER --skip 97964 --limit 500 --unigram-docs 20000
//!
//! Prints one JSON object; with `--each`, it also holds log p(X) of every document.

use gibbstream::corpus::{Inputs, ResolvedInputs, VocabularyLimits};
use gibbstream::evaluation::{Estimator, Evaluation, Scorer, Unigram};
use gibbstream::model::topics::lda::Topics;
use gibbstream::numerics::random::Seed;
use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments = Arguments::read(std::env::args().skip(1))?;
    let inputs = |skip, limit| -> Result<ResolvedInputs> {
        let paths = vec![PathBuf::from(arguments.text("corpus")?)];
        Ok(Inputs { paths, skip, limit, ..Inputs::default() }.resolve()?)
    };
    let held_out = inputs(arguments.number("skip", 0)?, arguments.number_if_given("limit")?)?;
    let vocabulary = held_out.vocabulary(&VocabularyLimits::default(), &mut |_| {})?;

    let topics = read_topics(
        Path::new(arguments.text("beta")?),
        Path::new(arguments.text("alpha")?),
        vocabulary.len(),
    )?;
    let mut unigram = Unigram::new(vocabulary.len());
    if let Some(documents) = arguments.number_if_given("unigram-docs")? {
        for document in inputs(0, Some(documents))?.documents(&vocabulary) {
            unigram.add(&document?);
        }
    }

    let evaluation = Evaluation {
        estimator: arguments.text("estimator").unwrap_or(Estimator::Smc.name()).parse()?,
        particles: arguments.number("particles", 20)? as usize,
        adaptive: false,
        seed: Seed(arguments.number("seed", 0)?),
        threads: arguments.number("threads", 1)? as usize,
    };
    let mut each = Vec::new();
    let score = Scorer::new(evaluation, &topics, &unigram)?
        .score_each(held_out.documents(&vocabulary), |_, document| each.push(document.log_likelihood))?;
    let mut result = serde_json::to_value(score)?;
    if arguments.is_given("each") {
        result["log_likelihoods"] = serde_json::to_value(each)?;
    }
    writeln!(std::io::stdout().lock(), "{result}")?;
    Ok(())
}

/// Reads topics and alpha, checks that they are what they should be, and turns the topics word-major.
fn read_topics(beta: &Path, alpha: &Path, vocabulary: usize) -> Result<Topics> {
    let (beta_shape, by_topic) = read_npy(beta)?;
    let (alpha_shape, alpha_values) = read_npy(alpha)?;
    let topics = alpha_values.len();
    if alpha_shape != [topics] || beta_shape != [topics, vocabulary] || topics == 0 {
        return Err(format!(
            "beta is {beta_shape:?} and alpha {alpha_shape:?}, but with {vocabulary} words they should be \
             [K, {vocabulary}] and [K]"
        )
        .into());
    }
    if let Some(value) = alpha_values.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
        return Err(format!("{}: {value} is not a Dirichlet parameter", alpha.display()).into());
    }
    for (topic, row) in by_topic.chunks_exact(vocabulary).enumerate() {
        let sum: f64 = row.iter().sum();
        if row.iter().any(|value| value.is_nan() || *value < 0.0) || (sum - 1.0).abs() > 1e-6 {
            return Err(format!("{}: topic {topic} is no distribution (sum {sum})", beta.display()).into());
        }
    }
    let mut by_word = vec![0.0; by_topic.len()];
    for (topic, row) in by_topic.chunks_exact(vocabulary).enumerate() {
        for (word, value) in row.iter().enumerate() {
            by_word[word * topics + topic] = *value;
        }
    }
    Ok(Topics { beta: by_word, alpha: alpha_values })
}

/// Shape and values of a `.npy` file of 64-bit floats in C order.
fn read_npy(path: &Path) -> Result<(Vec<usize>, Vec<f64>)> {
    let wrong = |what: &str| format!("{}: {what}", path.display());
    let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    let version = bytes.strip_prefix(b"\x93NUMPY").and_then(|rest| rest.first());
    let (size_bytes, start) = match version {
        Some(1) => (2, 10),
        Some(2 | 3) => (4, 12),
        _ => return Err(wrong("not a NumPy array").into()),
    };
    let mut size = [0; 4];
    size[..size_bytes].copy_from_slice(bytes.get(8..start).ok_or_else(|| wrong("cut off"))?);
    let end = start + u32::from_le_bytes(size) as usize;
    let header = std::str::from_utf8(bytes.get(start..end).ok_or_else(|| wrong("cut off"))?)?;
    if !header.contains("'<f8'") || !header.contains("'fortran_order': False") {
        return Err(wrong("should hold 64-bit floats in C order").into());
    }
    let sides = header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')'));
    let sides = sides.ok_or_else(|| wrong("has no shape"))?.0;
    let sides = sides.split(',').map(str::trim).filter(|side| !side.is_empty());
    let shape = sides.map(str::parse).collect::<std::result::Result<Vec<usize>, _>>()?;
    let values: Vec<f64> = bytes[end..]
        .chunks_exact(8)
        .map(|value| f64::from_le_bytes(value.try_into().unwrap_or_default()))
        .collect();
    if values.len() != shape.iter().product::<usize>() || !(bytes.len() - end).is_multiple_of(8) {
        return Err(wrong("has more or fewer values than its shape says").into());
    }
    Ok((shape, values))
}

/// `--name value` pairs, and `--each` alone.
struct Arguments(HashMap<String, String>);

impl Arguments {
    const NAMES: [&str; 10] = [
        "beta",
        "alpha",
        "corpus",
        "skip",
        "limit",
        "unigram-docs",
        "estimator",
        "particles",
        "seed",
        "threads",
    ];

    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut found = HashMap::new();
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some("each") => found.insert("each".to_string(), String::new()),
                Some(name) if Self::NAMES.contains(&name) => {
                    let value = words.next().ok_or_else(|| format!("--{name} needs a value"))?;
                    found.insert(name.to_string(), value)
                }
                _ => {
                    return Err(format!(
                        "there is no `{word}`; use --{} or --each",
                        Self::NAMES.join(", --")
                    )
                    .into());
                }
            };
        }
        Ok(Self(found))
    }

    fn is_given(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn text(&self, name: &str) -> Result<&str> {
        Ok(self.0.get(name).ok_or_else(|| format!("--{name} is needed"))?)
    }

    fn number_if_given(&self, name: &str) -> Result<Option<u64>> {
        let parsed =
            self.0.get(name).map(|text| text.parse().map_err(|_| format!("--{name}: `{text}` is no number")));
        Ok(parsed.transpose()?)
    }

    fn number(&self, name: &str, default: u64) -> Result<u64> {
        Ok(self.number_if_given(name)?.unwrap_or(default))
    }
}
