//! The documents of a report, as parallel arrays.

use super::chosen::Chosen;
use crate::explore::report::{DocumentText, Documents};

/// Documents in a block of texts: some ten milliseconds of work for a page.
const TEXTS_PER_BLOCK: u32 = 200;

/// Shares from which on a topic is listed in a mixture.
const LEAST_SHARE: f64 = 0.01;

/// What is kept of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub id: Option<String>,
    pub time: Option<i64>,
    pub group: Option<String>,
    pub tokens: u64,
    pub unknown_tokens: u64,
    /// Topic, share and its standard deviation, by falling share.
    pub mixture: Vec<(u32, f64, f64)>,
    pub text: DocumentText,
    /// Words with their counts, if another model will be asked about them.
    pub words: Vec<(u32, u32)>,
}

/// Documents with the same text are the same for those who read them.
impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        self.text.text == other.text.text
    }
}

impl Shown {
    /// The topics of a mixture that are worth listing, and at least one.
    pub fn listed(theta: &[f64], spread: &[f64]) -> Vec<(u32, f64, f64)> {
        let entry = |k: usize| (k as u32, theta[k], spread.get(k).copied().unwrap_or(0.0));
        let mut listed: Vec<(u32, f64, f64)> = (0..theta.len()).map(entry).collect();
        listed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let count = listed.partition_point(|entry| entry.1 >= LEAST_SHARE).max(1);
        listed.truncate(count);
        listed
    }
}

/// The documents to show; `group` gives the place of a group. Totals are for the caller to fill in.
pub(crate) fn documents(chosen: Chosen<Shown>, group: impl Fn(&str) -> u32) -> Documents {
    let shown = &chosen.documents;
    let mut documents = Documents {
        ids: shown.iter().map(|document| document.id.clone().unwrap_or_default()).collect(),
        places: chosen.places,
        times: shown.iter().map(|document| document.time).collect(),
        groups: shown.iter().map(|document| document.group.as_deref().map(&group)).collect(),
        tokens: shown.iter().map(|document| document.tokens as u32).collect(),
        unknown_tokens: shown.iter().map(|document| document.unknown_tokens as u32).collect(),
        typical: chosen.typical,
        sample: chosen.sample,
        texts: Some(shown.iter().map(|document| document.text.clone()).collect()),
        texts_per_block: TEXTS_PER_BLOCK,
        ..Documents::default()
    };
    let mixtures = &mut documents.mixtures;
    for document in shown {
        mixtures.starts.push(mixtures.topics.len() as u32);
        for &(topic, share, deviation) in &document.mixture {
            mixtures.topics.push(topic);
            mixtures.shares.push(share);
            mixtures.deviations.push(deviation);
        }
    }
    mixtures.starts.push(mixtures.topics.len() as u32);
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_are_left_out_but_never_all() {
        let listed = Shown::listed(&[0.004, 0.6, 0.3, 0.096], &[0.1, 0.2, 0.3, 0.4]);
        assert_eq!(listed, [(1, 0.6, 0.2), (2, 0.3, 0.3), (3, 0.096, 0.4)]);
        assert_eq!(Shown::listed(&vec![0.005; 200], &[]), [(0, 0.005, 0.0)]);
    }
}
