//! The corpora of the experiments: where their documents are, and which of them belong to a split.
//!
//! Documents of a corpus are in random order and the last ones are never learnt from. A split learns from a window of the
//! others that begins at its own place (around the end, the window goes on at the top), and scores a window of the last
//! ones. A synthetic corpus has a stream of its own for each split. Documents are read as they are needed, so memory does
//! not depend on how many there are; those to score are held.

use crate::cells::Cell;
use crate::experiment::Corpus;
use crate::scale::{SPLITS, Scale};
use gibbstream::corpus::{
    Document, Inputs, Length, Minibatch, ResolvedInputs, Synthetic, Truth, Vocabulary, VocabularyLimits,
};
use gibbstream::learn::Settings;
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::model::topics::lda::Topics;
use gibbstream::numerics::random::{Purpose, Seed};
use gibbstream::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Reviews that the topics of the synthetic corpus are learnt from, as in the paper.
const REVIEWS: u64 = 50_000;
/// Of these topics the most frequent words are kept.
const FREQUENT_WORDS: usize = 1_000;
/// Topics of the synthetic corpus.
const TRUE_TOPICS: usize = 10;
/// Dirichlet parameter of its mixtures, which the paper does not tell.
const TRUE_ALPHA: f64 = 0.1;
/// Held-out documents of a synthetic stream begin here.
const HELD_OUT_FROM: u64 = 1 << 40;

/// All corpora that were found.
pub struct Corpora {
    scale: Scale,
    sources: BTreeMap<Corpus, Arc<CorpusSource>>,
}

/// One corpus.
pub struct CorpusSource {
    name: String,
    corpus: Corpus,
    source: Source,
    vocabulary: Vocabulary,
    /// Documents that a cell learns from.
    documents: u64,
    /// Documents that a cell scores.
    held_out: u64,
}

enum Source {
    /// Documents of a file, of which the first `learnt` may be learnt from.
    Files { inputs: ResolvedInputs, learnt: u64, reserved: u64 },
    /// Documents drawn from known parameters, which are found when they are first needed.
    Drawn { truth: OnceLock<Result<Arc<Truth>, String>>, learnt_from: Option<Arc<CorpusSource>>, length: f64 },
}

impl Corpora {
    /// Looks for all corpora in the folder.
    pub fn open(scale: Scale, data: Option<&Path>) -> Result<Self> {
        let mut sources = BTreeMap::new();
        for corpus in Corpus::ALL {
            let source = match data.map(|folder| folder.join(corpus.name())) {
                _ if corpus == Corpus::Synthetic => continue,
                _ if scale.is_drawn() => Some(CorpusSource::drawn(scale, corpus, None)?),
                Some(folder) if folder.is_dir() => Some(CorpusSource::in_files(scale, corpus, &folder)?),
                _ => None,
            };
            sources.extend(source.map(|source| (corpus, Arc::new(source))));
        }
        let reviews = sources.get(&Corpus::Imdb).filter(|_| !scale.is_drawn()).cloned();
        let synthetic = CorpusSource::drawn(scale, Corpus::Synthetic, reviews)?;
        sources.insert(Corpus::Synthetic, Arc::new(synthetic));
        Ok(Self { scale, sources })
    }

    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The corpus, if it is there.
    pub fn source(&self, corpus: Corpus) -> Option<&Arc<CorpusSource>> {
        self.sources.get(&corpus)
    }

    /// The corpus of that name.
    pub fn by_name(&self, name: &str) -> Option<&Arc<CorpusSource>> {
        self.sources.values().find(|source| source.name == name)
    }

    /// The role of the corpus of that name.
    pub fn corpus(&self, name: &str) -> Option<Corpus> {
        self.by_name(name).map(|source| source.corpus)
    }

    /// Topics of experiments that have only one number of them.
    pub fn reference_topics(&self, name: &str) -> usize {
        self.corpus(name).map_or(0, |corpus| self.scale.reference_topics(corpus))
    }

    /// What readers of results must know about the corpora.
    pub fn remarks(&self) -> Vec<String> {
        self.sources.values().filter_map(|source| source.remark()).collect()
    }
}

impl CorpusSource {
    fn in_files(scale: Scale, corpus: Corpus, folder: &Path) -> Result<Self> {
        let inputs = Inputs { paths: vec![folder.to_path_buf()], ..Inputs::default() }.resolve()?;
        let vocabulary = inputs.vocabulary(&VocabularyLimits::default(), &mut |_| {})?;
        let total = inputs.expected_documents().unwrap_or(0);
        let reserved = corpus.reserved();
        if total <= reserved {
            let problem = format!("{} has {total} documents, and {reserved} are held out", folder.display());
            return Err(Error::setting("--data", problem, "use a larger corpus"));
        }
        let learnt = total - reserved;
        Ok(Self {
            name: corpus.name().to_owned(),
            corpus,
            vocabulary,
            documents: scale.documents(corpus).min(learnt),
            held_out: scale.held_out(corpus).min(reserved),
            source: Source::Files { inputs, learnt, reserved },
        })
    }

    fn drawn(scale: Scale, corpus: Corpus, learnt_from: Option<Arc<CorpusSource>>) -> Result<Self> {
        let name = match (corpus, &learnt_from) {
            (Corpus::Synthetic, Some(_)) => "synthetic".to_owned(),
            (Corpus::Synthetic, None) => "synthetic-random".to_owned(),
            _ => format!("{}-drawn", corpus.name()),
        };
        let words = if scale.is_drawn() { 120 } else { FREQUENT_WORDS };
        let digits = (words - 1).to_string().len();
        let vocabulary = match &learnt_from {
            Some(reviews) => Vocabulary::new(reviews.vocabulary.words().take(FREQUENT_WORDS))?,
            None => Vocabulary::new((0..words).map(|word| format!("w{word:0digits$}")))?,
        };
        Ok(Self {
            name,
            corpus,
            vocabulary,
            documents: scale.documents(corpus),
            held_out: scale.held_out(corpus),
            source: Source::Drawn {
                truth: OnceLock::new(),
                learnt_from,
                length: if scale.is_drawn() { 30.0 } else { 60.0 },
            },
        })
    }

    /// Its name in cells, which says how it came about.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub fn documents(&self) -> u64 {
        self.documents
    }

    pub fn held_out(&self) -> u64 {
        self.held_out
    }

    fn remark(&self) -> Option<String> {
        match (&self.source, self.corpus) {
            (Source::Files { .. }, _) => None,
            (Source::Drawn { learnt_from: Some(_), .. }, _) => Some(format!(
                "`{}`: {TRUE_TOPICS} topics learnt by `olda` from {REVIEWS} reviews of imdb, cut to the \
                 {FREQUENT_WORDS} most frequent words; documents of Poisson(60) tokens, alpha {TRUE_ALPHA}.",
                self.name
            )),
            (Source::Drawn { length, .. }, Corpus::Synthetic) => Some(format!(
                "`{}`: imdb was not there to learn topics from, so the {TRUE_TOPICS} topics over {} words are random \
                 (Dirichlet); documents of Poisson({length}) tokens, alpha {TRUE_ALPHA}.",
                self.name,
                self.vocabulary.len()
            )),
            _ => Some(format!("`{}`: random documents in the place of the corpus.", self.name)),
        }
    }

    /// The documents that a cell learns from, in its order, in minibatches.
    pub fn lessons(&self, cell: &Cell, pass: u64) -> Result<impl Iterator<Item = Result<Minibatch>> + use<>> {
        Ok(minibatches(self.training(cell)?, cell.batch, pass))
    }

    /// The documents that a cell learns from, in its order.
    pub fn training(&self, cell: &Cell) -> Result<Box<dyn Iterator<Item = Result<Document>> + Send>> {
        match &self.source {
            Source::Files { inputs, learnt, .. } => {
                let start = (cell.split - 1) % SPLITS * learnt / SPLITS;
                let until_end = cell.documents.min(learnt - start);
                let first = inputs.range(start, Some(until_end)).documents(&self.vocabulary);
                let rest = cell.documents - until_end;
                if rest == 0 {
                    return Ok(first);
                }
                Ok(Box::new(first.chain(inputs.range(0, Some(rest)).documents(&self.vocabulary))))
            }
            Source::Drawn { .. } => Ok(Box::new(self.stream(cell)?.take(cell.documents as usize))),
        }
    }

    /// The documents that a cell scores.
    pub fn to_score(&self, cell: &Cell) -> Result<Vec<Document>> {
        let documents: Vec<Document> = match &self.source {
            Source::Files { inputs, learnt, reserved } => {
                let room = reserved - cell.held_out;
                let start = learnt + (cell.split - 1) % SPLITS * room / (SPLITS - 1);
                inputs.range(start, Some(cell.held_out)).documents(&self.vocabulary).collect::<Result<_>>()?
            }
            Source::Drawn { .. } => {
                let stream = self.stream(cell)?;
                (0..cell.held_out).map(|index| stream.document(HELD_OUT_FROM + index)).collect()
            }
        };
        Ok(documents.into_iter().map(|document| cut(document, cell.longest)).collect())
    }

    fn stream(&self, cell: &Cell) -> Result<Synthetic> {
        let Source::Drawn { length, .. } = self.source else { unreachable!("files are not drawn") };
        Synthetic::new(self.truth()?, Length::Poisson(length), Seed(cell.seed), u64::MAX)
    }

    /// The parameters that documents are drawn from, as a model; `None` for files.
    pub fn true_topics(&self) -> Result<Option<Topics>> {
        if matches!(self.source, Source::Files { .. }) {
            return Ok(None);
        }
        let truth = self.truth()?;
        let words = 0..truth.vocabulary_size;
        let beta = words.flat_map(|word| (0..truth.topic_count()).map(move |k| (k, word)));
        let beta = beta.map(|(k, word)| truth.row(k)[word]).collect();
        Ok(Some(Topics { beta, alpha: truth.alpha.clone() }))
    }

    fn truth(&self) -> Result<Arc<Truth>> {
        let Source::Drawn { truth, learnt_from, .. } = &self.source else {
            unreachable!("files are not drawn")
        };
        let find = || {
            if let Some(reviews) = learnt_from {
                return learnt_truth(reviews);
            }
            // Each stand-in has topics of its own.
            let seed = Seed(self.corpus as u64);
            Truth::random(TRUE_TOPICS, self.vocabulary.len(), 0.1, TRUE_ALPHA, seed)
        };
        let found = truth.get_or_init(|| find().map(Arc::new).map_err(|error| error.to_string()));
        found.clone().map_err(|problem| {
            Error::setting("--data", format!("no topics to draw from: {problem}"), "check the folder imdb")
        })
    }
}

fn minibatches(
    mut documents: impl Iterator<Item = Result<Document>>,
    size: usize,
    pass: u64,
) -> impl Iterator<Item = Result<Minibatch>> {
    let mut seen = 0;
    std::iter::from_fn(move || {
        let some: Result<Vec<Document>> = documents.by_ref().take(size).collect();
        let some = some.map(|some| (!some.is_empty()).then_some(some)).transpose()?;
        Some(some.map(|some| {
            let first = seen;
            seen += some.len() as u64;
            Minibatch::new(&some, first, pass)
        }))
    })
}

/// Topics of reviews, cut to their most frequent words, as the paper makes its synthetic corpus.
fn learnt_truth(reviews: &CorpusSource) -> Result<Truth> {
    let Source::Files { inputs, learnt, .. } = &reviews.source else {
        unreachable!("topics are learnt from files")
    };
    let documents = REVIEWS.min(*learnt);
    let method = Method::OLDA.with_population(documents as f64);
    let settings = Settings::new(TRUE_TOPICS).method("olda", method).vocabulary(reviews.vocabulary.len());
    let mut trainer = Trainer::new(settings, 1)?;
    let lessons = inputs.range(0, Some(documents)).documents(&reviews.vocabulary);
    for batch in minibatches(lessons, 100, 0) {
        trainer.partial_fit(&batch?)?;
    }
    let Some(topics) = trainer.topics() else {
        return Err(Error::setting("--data", "imdb is empty", "check the folder"));
    };
    // Words are numbered by falling frequency.
    let words = FREQUENT_WORDS.min(topics.vocabulary()) as u32;
    let rows = (0..TRUE_TOPICS).flat_map(|k| {
        let topics = &topics;
        let total: f64 = (0..words).map(|word| topics.row(word)[k]).sum();
        (0..words).map(move |word| topics.row(word)[k] / total)
    });
    Truth::new(rows.collect(), vec![TRUE_ALPHA; TRUE_TOPICS])
}

/// A document of no more than so many of its tokens, picked at random; always the same ones.
fn cut(document: Document, longest: Option<u64>) -> Document {
    let Some(longest) = longest.filter(|&longest| document.tokens() > longest) else { return document };
    let mut tokens: Vec<u32> =
        document.words.iter().flat_map(|&(word, count)| std::iter::repeat_n(word, count as usize)).collect();
    Seed(0).stream(Purpose::Completion, [document.tokens(), longest]).shuffle(&mut tokens);
    tokens.truncate(longest as usize);
    Document { id: document.id, ..Document::from_tokens(&tokens) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_documents_are_cut_and_short_ones_are_not() {
        let long = Document { words: vec![(3, 70), (9, 30)], ..Document::default() };
        assert_eq!(cut(long.clone(), None), long);
        assert_eq!(cut(long.clone(), Some(100)), long);
        let short = cut(long.clone(), Some(40));
        assert_eq!((short.tokens(), short.words.len()), (40, 2));
        assert!(short.words.iter().zip(&long.words).all(|(short, long)| short.1 <= long.1));
        assert_eq!(short, cut(long, Some(40)));
    }
}
