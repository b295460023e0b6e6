//! What a model is, how it was learnt, and what a model of numbers consists of.

use super::report::{Components, Evaluations, HistoryFacts, ModelFacts, RunFacts, Trace};
use crate::error::Result;
use crate::file::{HistoryEntry, Model};
use crate::learn::knobs::given;
use crate::learn::{ModelKind, Parameters, RowParameters, Snapshot, Values};

/// Columns of a model of numbers that are shown.
const MOST_COLUMNS: usize = 1_000;

/// A model in numbers.
pub(super) fn model_facts(model: &Model) -> ModelFacts {
    let (settings, clock) = (&model.settings, model.clock());
    let open = model.open_topics();
    ModelFacts {
        kind: settings.model.name().to_owned(),
        method: settings.name.clone(),
        topics: model.components() as u32,
        topics_used: open.map(|(used, _)| used as u32),
        topics_created: open.map(|(_, created)| created),
        vocabulary: settings.features as u32,
        documents: clock.seen,
        tokens: model.tokens(),
        updates: clock.update,
        seed: settings.seed.0,
        alpha_sum: model.topic_state().map(|state| state.alpha.alpha.iter().sum()),
        model_hash: model.hash(),
        settings: given(settings).into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

/// How a model was learnt.
pub(super) fn run_facts(model: &Model) -> RunFacts {
    let entry = |entry: &HistoryEntry| HistoryFacts {
        action: entry.action.clone(),
        version: entry.version.clone(),
        inputs: entry.inputs.clone(),
        documents: entry.documents,
        tokens: entry.tokens,
        changes: entry.changes.clone(),
    };
    RunFacts {
        history: model.history.iter().map(entry).collect(),
        evaluations: evaluations(model),
        trace: trace(&model.history),
    }
}

/// All scores that were taken, as one curve; `None` if there are none.
fn evaluations(model: &Model) -> Option<Evaluations> {
    let scores = || model.history.iter().flat_map(|entry| &entry.trace.scores);
    let last = scores().last()?;
    Some(Evaluations {
        estimator: last.estimator.clone(),
        unit: if model.settings.model.has_topics() { "nats per document" } else { "nats per observation" }.into(),
        baseline_name: last.baseline.0.clone(),
        held_out: last.held_out,
        documents: scores().map(|score| score.documents).collect(),
        score: scores().map(|score| score.score).collect(),
        standard_error: scores().map(|score| score.standard_error).collect(),
        baseline: scores().map(|score| score.baseline.1).collect(),
    })
}

/// All moments that were written down; `None` if there are none.
fn trace(history: &[HistoryEntry]) -> Option<Trace> {
    let moments = || history.iter().flat_map(|entry| &entry.trace.moments);
    moments().next()?;
    Some(Trace {
        documents: moments().map(|moment| moment.documents).collect(),
        updates: moments().map(|moment| moment.updates).collect(),
        step: moments().map(|moment| moment.step).collect(),
        alpha_sum: moments().filter_map(|moment| moment.alpha_sum).collect(),
        topics_used: moments().filter_map(|moment| moment.topics_used.map(|used| used as u32)).collect(),
    })
}

/// The components or sources of a model of numbers; `None` for a topic model.
pub(super) fn components(snapshot: &Snapshot) -> Result<Option<Components>> {
    let Parameters::Rows(parameters) = snapshot.parameters()? else { return Ok(None) };
    let columns = snapshot.settings.features;
    let shown = columns.min(MOST_COLUMNS);
    let (unit, value) = match snapshot.settings.model {
        ModelKind::Ica { .. } => ("source", "loading"),
        ModelKind::GaussianMixture { .. } => ("component", "mean"),
        ModelKind::PoissonMixture { .. } => ("component", "rate"),
        _ => ("component", "probability"),
    };
    let is_ica = unit == "source";
    // Loadings stand by column; all other parameters by component, and begin with a number for each column.
    let values = if is_ica {
        let loadings = array(parameters, "mixing");
        let sources = snapshot.settings.components;
        (0..sources).map(|s| (0..shown).map(|c| loadings[c * sources + s]).collect()).collect()
    } else {
        let rows = parameters.arrays.iter().find(|array| array.name != "weights");
        let width = rows.and_then(|rows| rows.shape.get(1).copied()).unwrap_or(1).max(1);
        let rows = rows.map_or(&[][..], |rows| floats(&rows.values)).chunks_exact(width);
        rows.map(|row| row[..shown].to_vec()).collect()
    };
    Ok(Some(Components {
        unit: unit.to_owned(),
        value: value.to_owned(),
        columns: snapshot.features.columns().iter().take(shown).cloned().collect(),
        weights: (!is_ica).then(|| array(parameters, "weights").to_vec()),
        values,
        warnings: snapshot.fitted.diagnostics().warnings,
    }))
}

fn array<'a>(parameters: &'a RowParameters, name: &str) -> &'a [f64] {
    parameters.arrays.iter().find(|array| array.name == name).map_or(&[], |array| floats(&array.values))
}

fn floats<'a>(values: &'a Values<'_>) -> &'a [f64] {
    match values {
        Values::Floats(values) => values,
        Values::Counts(_) => &[],
    }
}
