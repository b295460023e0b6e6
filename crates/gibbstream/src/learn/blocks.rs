//! Blocks of a minibatch, for E-steps in other processes: what travels as bytes, who answers, and what is refused.
//!
//! A block is some consecutive observations with their places in the stream, which key their random numbers. So how a
//! minibatch is cut into blocks, who computes them, and in which order they come back changes nothing.

use super::batch::{AnyBatch, Observation};
use super::learner::Learner;
use super::settings::Settings;
use crate::file::bytes::{from_bytes, to_bytes};
use crate::corpus::{Document, Entry, Minibatch, Row};
use crate::error::{Error, Result};
use super::method::Local;
use crate::model::Batch;
use crate::model::rows::observations::Observations;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Observations on their way to another process.
#[derive(Serialize, Deserialize)]
enum Packed {
    /// Words with their counts, and tokens outside of the vocabulary.
    Documents(Vec<(Vec<(u32, u32)>, u64)>),
    Rows {
        width: usize,
        values: Vec<f64>,
    },
}

/// Observations as bytes, without their names.
pub fn pack(observations: Vec<Observation>) -> Result<Vec<u8>> {
    let (mut documents, mut rows, mut width) = (Vec::new(), Vec::new(), None);
    for observation in observations {
        match observation {
            Observation::Document(document) => documents.push((document.words, document.out_of_vocabulary)),
            Observation::Row(row) => {
                if *width.get_or_insert(row.values.len()) != row.values.len() {
                    return Err(refused("rows of different widths"));
                }
                rows.extend(row.values);
            }
        }
    }
    match width {
        None => Ok(to_bytes(&Packed::Documents(documents))),
        Some(width) if documents.is_empty() => Ok(to_bytes(&Packed::Rows { width, values: rows })),
        Some(_) => Err(refused("documents and rows of numbers")),
    }
}

/// The observations of [`pack`].
pub fn unpack(bytes: &[u8]) -> Result<Vec<Observation>> {
    from_bytes::<Packed>(bytes)?.observations()
}

impl Packed {
    fn observations(self) -> Result<Vec<Observation>> {
        match self {
            Self::Documents(documents) => documents
                .into_iter()
                .map(|(words, out_of_vocabulary)| {
                    let ascending = words.windows(2).all(|pair| pair[0].0 < pair[1].0);
                    if ascending && words.iter().all(|&(_, count)| count > 0) {
                        Ok(Document { words, out_of_vocabulary, ..Document::default() }.into())
                    } else {
                        Err(refused("words that are not in order"))
                    }
                })
                .collect(),
            Self::Rows { width, values } => {
                if width == 0 || !values.len().is_multiple_of(width) {
                    return Err(refused("rows that are not whole"));
                }
                let row = |values: &[f64]| Row { id: None, values: values.to_vec() }.into();
                Ok(values.chunks_exact(width).map(row).collect())
            }
        }
    }
}

fn refused(problem: &str) -> Error {
    Error::setting("bytes", format!("they hold {problem}"), "pack observations of one kind")
}

/// Some observations of a minibatch, with their places in the stream.
pub fn block(batch: &AnyBatch<'_>, range: Range<usize>) -> Vec<u8> {
    let (first, pass, packed) = match batch {
        AnyBatch::Documents(batch) => {
            let word = |entry: &Entry| (batch.words()[entry.word as usize], entry.count);
            let document =
                |index: usize| (batch.document(index).iter().map(word).collect(), batch.unknown_of(index));
            let documents = range.clone().map(document).collect();
            (batch.first(), batch.pass(), Packed::Documents(documents))
        }
        AnyBatch::Rows(batch) => {
            let values = range.clone().flat_map(|index| batch.row(index).iter().copied()).collect();
            let [pass, first] = batch.key(0);
            (first, pass, Packed::Rows { width: batch.dimension(), values })
        }
    };
    to_bytes(&(first + range.start as u64, pass, packed))
}

fn read_block(bytes: &[u8]) -> Result<AnyBatch<'static>> {
    let (first, pass, packed): (u64, u64, Packed) = from_bytes(bytes)?;
    if let Packed::Rows { width, values } = packed {
        return Observations::new(values, width, first, pass).map(|rows| AnyBatch::Rows(Cow::Owned(rows)));
    }
    let documents = packed.observations()?.into_iter().filter_map(|observation| match observation {
        Observation::Document(document) => Some(document),
        Observation::Row(_) => None,
    });
    let documents: Vec<Document> = documents.collect();
    Ok(AnyBatch::Documents(Cow::Owned(Minibatch::new(&documents, first, pass))))
}

/// A process that has the settings and answers for blocks. It has no state that could go wrong.
pub struct BlockWorker {
    learner: Box<dyn Learner>,
}

impl BlockWorker {
    /// One that computes on so many threads; their number never changes a result.
    pub fn new(settings: &Settings, threads: usize) -> Result<Self> {
        settings.check_blocks(0)?;
        Ok(Self { learner: settings.learner(threads)? })
    }

    /// The statistics of a block under the parameters of a view.
    pub fn answer(&self, view: &[u8], block: &[u8]) -> Result<Vec<u8>> {
        self.learner.e_step_bytes(view, &read_block(block)?)
    }

    /// The statistics of several blocks as those of one.
    pub fn merge<'a>(&self, blocks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>> {
        let mut gathered = self.learner.gather();
        blocks.into_iter().try_for_each(|block| gathered.merge(block))?;
        Ok(gathered.to_bytes())
    }
}

impl Settings {
    /// Refuses what cannot be computed in blocks, or not with parameters that are `staleness` updates old.
    pub fn check_blocks(&self, staleness: usize) -> Result<()> {
        if self.method.boost {
            let problem = "boosted inference refreshes the parameters after every pass over the whole minibatch, \
                           so the minibatch cannot be shared out";
            return Err(Error::setting("boost", problem, "use a method without boosting, such as g-oem"));
        }
        if matches!(self.method.local, Local::CollapsedGibbs { .. }) {
            let problem = format!(
                "`{}` draws one token of the corpus after another, each given all others, so nothing can be shared out",
                self.name
            );
            return Err(Error::setting("method", problem, "use a method such as g-oem"));
        }
        if staleness > 1 {
            let problem = format!("{staleness} updates is older than parameters may be");
            return Err(Error::setting("staleness", problem, "use 0 or 1"));
        }
        if staleness == 1 && self.model.hdp().is_some() {
            let problem = "topics come and go with every update, so old parameters name topics that are gone";
            return Err(Error::setting("staleness", problem, "use 0 for this model"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Vec<Document> {
        let other = Document { out_of_vocabulary: 3, ..Document::default() };
        vec![Document::from_tokens(&[5, 1, 1]), other, Document::from_tokens(&[2])]
    }

    #[test]
    fn packs_and_blocks_come_back_as_they_went() {
        let observations: Vec<Observation> = documents().into_iter().map(Into::into).collect();
        assert_eq!(unpack(&pack(observations.clone()).unwrap()).unwrap(), observations);
        let batch = AnyBatch::new(observations, 40, 2).unwrap();
        let expected = Minibatch::new(&documents()[1..], 41, 2);
        assert_eq!(read_block(&block(&batch, 1..3)).unwrap().documents().unwrap(), &expected);
        let rows = Observations::new(vec![1.0, 2.0, 3.0, 4.0], 2, 7, 1).unwrap();
        let last = Observations::new(vec![3.0, 4.0], 2, 8, 1).unwrap();
        assert_eq!(read_block(&block(&(&rows).into(), 1..2)).unwrap().rows().unwrap(), &last);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        for packed in [
            Packed::Documents(vec![(vec![(2, 1), (1, 1)], 0)]),
            Packed::Documents(vec![(vec![(2, 0)], 0)]),
            Packed::Rows { width: 2, values: vec![1.0; 3] },
            Packed::Rows { width: 0, values: vec![1.0] },
        ] {
            assert!(unpack(&to_bytes(&packed)).is_err());
            assert!(read_block(&to_bytes(&(0_u64, 0_u64, packed))).is_err());
        }
        let mixed = vec![Document::default().into(), Row { id: None, values: vec![1.0] }.into()];
        assert!(pack(mixed).is_err());
    }

    #[test]
    fn what_cannot_be_shared_out_is_refused_with_the_reason() {
        let check = |method: &str, staleness| {
            let settings = Settings::of(super::super::ModelKind::Lda, 3, method).unwrap().vocabulary(9);
            settings.check_blocks(staleness).map_err(|error| error.to_string())
        };
        assert!(check("g-oem++", 0).unwrap_err().contains("after every pass over the whole minibatch"));
        assert!(check("batch-gibbs", 0).unwrap_err().contains("one token of the corpus after another"));
        assert!(check("g-oem", 2).unwrap_err().contains("use 0 or 1"));
        assert!(check("g-oem", 1).is_ok());
        let hdp = super::super::ModelKind::Hdp(crate::model::topics::hdp::HdpSettings::default());
        let hdp = Settings::of(hdp, 2, "g-oem").unwrap().vocabulary(9);
        assert!(hdp.check_blocks(0).is_ok());
        assert!(hdp.check_blocks(1).unwrap_err().to_string().contains("topics come and go"));
    }
}
