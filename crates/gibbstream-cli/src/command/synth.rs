//! `synth`: documents drawn from known parameters, with the truth beside them.

use crate::Outcome;
use crate::args::General;
use crate::output::{Output, count};
use gibbstream::corpus::{Length, Synthetic, Truth, write_uci};
use gibbstream::file::claim_folder;
use gibbstream::file::npy::write_npy;
use gibbstream::{Error, Result};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  gibbstream synth --topics 10 --vocab 1000 --docs 100000 --out truth/
  gibbstream train truth/ --topics 10 --out learnt.gbs

Writes docword.txt.zst and vocab.txt (UCI format), and the truth as NumPy arrays: beta.npy (topics x words, rows sum
to 1) and alpha.npy. Document i depends only on the seed and on i, so a longer corpus starts with the documents of a shorter one.";

/// What is written.
const FILES: [&str; 4] = ["docword.txt.zst", "vocab.txt", "beta.npy", "alpha.npy"];

/// Write a synthetic corpus with known topics
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SynthArgs {
    /// Number of topics
    #[arg(long, value_name = "K", default_value_t = 10)]
    topics: usize,
    /// Number of words in the vocabulary
    #[arg(long, value_name = "V", default_value_t = 1000)]
    vocab: usize,
    /// Number of documents
    #[arg(long, value_name = "D", default_value_t = 10_000)]
    docs: u64,
    /// Mean number of tokens per document (Poisson-distributed)
    #[arg(long, value_name = "L", default_value_t = 60.0)]
    length: f64,
    /// Give every document exactly L tokens (a whole number)
    #[arg(long)]
    fixed_length: bool,
    /// Dirichlet parameter of the topic mixtures: small values give documents with few topics
    #[arg(long, value_name = "A", default_value_t = 0.1)]
    alpha: f64,
    /// Dirichlet parameter of the topics: small values give topics with few words
    #[arg(long, value_name = "B", default_value_t = 0.1)]
    topic_concentration: f64,
    /// Folder to write to; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &SynthArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let length = length(args)?;
    if args.docs == 0 {
        return Err(Error::setting(
            "--docs",
            "a corpus has at least one document",
            "for example --docs 10000",
        )
        .into());
    }
    let is_ours = |folder: &Path| FILES.iter().all(|name| folder.join(name).is_file());
    claim_folder(&args.out, &FILES, is_ours, general.force)?;
    let truth = Truth::random(args.topics, args.vocab, args.topic_concentration, args.alpha, general.seed)?;
    let truth = Arc::new(truth);
    let documents = Synthetic::new(truth.clone(), length, general.seed, args.docs)?;
    let digits = (args.vocab - 1).to_string().len();
    let vocabulary: Vec<String> = (0..args.vocab).map(|word| format!("w{word:0digits$}")).collect();
    output.progress.start("drawing", "documents", Some(args.docs));
    let mut done = 0;
    let watched = documents.inspect(|_| {
        done += 1;
        output.progress.advance(done, || (String::new(), json!({})));
    });
    let size = write_uci(watched, &vocabulary, &args.out)?;
    output.progress.finish();
    write_npy(args.out.join("beta.npy"), &[args.topics, args.vocab], truth.topics.iter().copied())?;
    write_npy(args.out.join("alpha.npy"), &[args.topics], truth.alpha.iter().copied())?;
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/synth/1",
            "topics": args.topics,
            "vocabulary": args.vocab,
            "documents": size.documents,
            "entries": size.entries,
            "tokens": size.tokens,
            "seed": general.seed.0,
            "out": args.out.display().to_string(),
        }))?;
    } else {
        output.note(format_args!(
            "{} documents, {} tokens, {} topics of {} words are in {}",
            count(size.documents),
            count(size.tokens),
            count(args.topics as u64),
            count(args.vocab as u64),
            args.out.display()
        ));
    }
    Ok(Outcome::Done)
}

fn length(args: &SynthArgs) -> Result<Length> {
    if !args.fixed_length {
        return Ok(Length::Poisson(args.length));
    }
    if args.length.fract() != 0.0 || args.length < 1.0 {
        let problem = format!("{} is not a whole number of tokens", args.length);
        return Err(Error::setting("--length", problem, "use one, or leave --fixed-length out"));
    }
    Ok(Length::Fixed(args.length as u64))
}
