//! `evaluate` for models of rows of numbers.

use crate::Outcome;
use crate::args::General;
use crate::args::input::report_bad;
use crate::command::evaluate::EvaluateArgs;
use crate::output::{FAINT, Output, STRONG, count};
use gibbstream::dense::{DenseModel, DenseScore, Scoring};
use gibbstream::evaluation::annealed::Annealed;
use serde::Serialize;
use serde_json::json;

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    model: &'static str,
    model_hash: &'a str,
    method: &'a str,
    seed: u64,
    #[serde(flatten)]
    score: DenseScore,
}

/// Runs the command.
pub fn run(args: &EvaluateArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let model = DenseModel::load(&args.model)?;
    let other = args.estimator == "left-to-right";
    super::refuse(
        &model,
        &[
            ("--elbo", args.elbo),
            ("--completion", args.completion),
            ("--coherence", args.coherence),
            ("--estimator left-to-right", other),
        ],
    )?;
    let (inputs, rows) = super::rows_for(&model, &args.input)?;
    let scoring = Scoring {
        effort: Annealed { particles: args.particles, ..Annealed::default() },
        seed: general.seed,
        threads: general.threads,
    };
    let trainer = super::asked(&model, 1)?;
    output.progress.start("scoring", "observations", None);
    let values = rows.read().map(|row| row.map(|row| row.values));
    let score = scoring.score(&trainer, values, |done| {
        output.progress.advance(done, || (String::new(), json!({})));
    })?;
    output.progress.finish();
    report_bad(&inputs, output);
    if score.log_perplexity_per_document > score.baseline_log_perplexity_per_document {
        output.warn(format_args!(
            "the model predicts these observations worse than its baseline ({})",
            score.baseline
        ));
    }
    let hash = model.hash();
    let report = Report {
        schema: "gibbstream/evaluate/1",
        model: model.settings.model.name(),
        model_hash: &hash,
        method: &model.settings.name,
        seed: general.seed.0,
        score,
    };
    if output.json {
        output.print_json(&report)?;
    } else {
        output.print(&table(&report))?;
    }
    Ok(Outcome::Done)
}

fn table(report: &Report<'_>) -> String {
    let score = &report.score;
    let error = score.standard_error.map_or(String::new(), |error| format!(" ± {error:.3}"));
    let way = match score.estimator {
        "exact" => "exact".to_owned(),
        _ => format!(
            "annealed importance sampling, {} particles, ± {:.4} of it by chance",
            score.particles, score.estimator_standard_error
        ),
    };
    format!(
        "{STRONG}{}{STRONG:#} on {} observations, nats per observation (lower is better)\n\
         the model   {STRONG}{:.3}{STRONG:#}{error}  {FAINT}{way}{FAINT:#}\n\
         baseline    {:.3}  {FAINT}{}{FAINT:#}\n",
        report.model,
        count(score.documents),
        score.log_perplexity_per_document,
        score.baseline_log_perplexity_per_document,
        score.baseline,
    )
}
