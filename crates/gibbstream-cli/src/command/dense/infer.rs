//! `infer` for models of rows of numbers: the probability of each component, or the value of each source.

use crate::Outcome;
use crate::args::General;
use crate::args::input::report_bad;
use crate::command::infer::InferArgs;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::stream::Feed;
use gibbstream::Error;
use gibbstream::corpus::Row;
use gibbstream::dense::{DenseModel, Predictor, stream_of};
use gibbstream::random::Purpose;
use rayon::prelude::*;
use serde_json::{Map, json};
use std::io::{self, BufWriter, Write};

/// Observations that are worked on together; the result does not depend on it.
const TOGETHER: usize = 256;

/// The hidden part of an observation, and its spread.
type Hidden = (Vec<f64>, Option<Vec<f64>>);

/// Runs the command.
pub fn run(
    args: &InferArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let model = DenseModel::load(&args.model)?;
    super::refuse(
        &model,
        &[("--tokens", args.tokens), ("--follow", args.follow), ("--top", args.top.is_some())],
    )?;
    if args.sweeps < 2 {
        let problem = "one half of the sweeps is kept, so there must be two at least";
        return Err(Error::setting("--sweeps", problem, "use for example 100").into());
    }
    let csv = args.output_format == "csv";
    if csv && output.json {
        let advice = "leave --output-format csv out";
        return Err(Error::setting("--json", "cannot be written as CSV", advice).into());
    }
    let (inputs, rows) = super::rows_for(&model, &args.input)?;
    let trainer = super::asked(&model, 1)?;
    let predictor = trainer.predictor().ok_or_else(|| anyhow::anyhow!("the model has learnt nothing"))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(general.threads).build()?;
    let mut lines = Lines {
        out: BufWriter::new(io::stdout().lock()),
        name: model.settings.model.latent(),
        spread: args.uncertainty,
        schema: output.json,
    };
    if csv {
        lines.header(model.settings.components)?;
    }
    output.progress.start("inferring", "observations", None);
    let mut feed = Feed::start(rows.read(), 2 * TOGETHER)?;
    let mut index = 0;
    loop {
        let some = feed.next_some(TOGETHER, interrupt)?;
        if some.is_empty() {
            break;
        }
        let hidden = |row: &Row| find(&*predictor, row, args.sweeps, general);
        let found: Vec<Hidden> = pool.install(|| some.par_iter().map(hidden).collect());
        for (row, hidden) in some.iter().zip(&found) {
            if csv {
                lines.csv(index, row, hidden)?;
            } else {
                lines.json(index, row, hidden)?;
            }
            index += 1;
        }
        lines.out.flush()?;
        output.progress.advance(index, || (String::new(), json!({})));
    }
    output.progress.finish();
    report_bad(&inputs, output);
    Ok(Outcome::Done)
}

/// Random numbers depend on the values alone, so an observation always gets the same answer.
fn find(predictor: &dyn Predictor, row: &Row, sweeps: usize, general: &General) -> Hidden {
    let random = stream_of(general.seed, Purpose::Mixture, &row.values);
    predictor.hidden(&row.values, sweeps, random)
}

/// Where the lines go, and what is on them.
struct Lines<W> {
    out: W,
    name: &'static str,
    spread: bool,
    schema: bool,
}

impl<W: Write> Lines<W> {
    fn json(&mut self, index: u64, row: &Row, (hidden, spread): &Hidden) -> io::Result<()> {
        let mut line = Map::new();
        if self.schema {
            line.insert("schema".into(), json!("gibbstream/infer/1"));
        }
        line.insert("id".into(), json!(row.id));
        line.insert("index".into(), json!(index));
        line.insert(self.name.into(), json!(hidden));
        if let (true, Some(spread)) = (self.spread, spread) {
            line.insert("spread".into(), json!(spread));
        }
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }

    fn header(&mut self, components: usize) -> io::Result<()> {
        write!(self.out, "id,index")?;
        let name = if self.name == "theta" { "component" } else { "source" };
        (0..components).try_for_each(|k| write!(self.out, ",{name}_{k}"))?;
        if self.spread && self.name != "theta" {
            (0..components).try_for_each(|k| write!(self.out, ",spread_{k}"))?;
        }
        self.out.write_all(b"\n")
    }

    fn csv(&mut self, index: u64, row: &Row, (hidden, spread): &Hidden) -> io::Result<()> {
        let id = row.id.as_deref().unwrap_or_default();
        if id.contains(['"', ',', '\n', '\r']) {
            write!(self.out, "\"{}\",{index}", id.replace('"', "\"\""))?;
        } else {
            write!(self.out, "{id},{index}")?;
        }
        let spread = spread.iter().flatten().filter(|_| self.spread);
        hidden.iter().chain(spread).try_for_each(|value| write!(self.out, ",{value}"))?;
        self.out.write_all(b"\n")
    }
}
