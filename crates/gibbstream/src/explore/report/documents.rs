//! Documents, and topics over time and by group.

use serde::{Deserialize, Serialize};

/// The documents shown: the most typical of each topic first, then a uniform sample. Parallel arrays by document, in the
/// order of the input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Documents {
    /// Documents read.
    pub total: u64,
    /// Tokens read whose word the model knows.
    pub total_tokens: u64,
    /// Tokens read whose word it does not know.
    pub total_unknown_tokens: u64,
    /// Documents read without a known word. They are counted, and shown nowhere.
    pub without_words: u64,
    /// Whether texts are those of the input. If not, the input had counts alone, and texts are lists of words.
    pub has_texts: bool,
    /// The name that the input gives each document; empty if it gives none.
    pub ids: Vec<String>,
    /// Place in the input, from 0.
    pub places: Vec<u64>,
    /// Time in seconds since 1970 (UTC); null without a time field.
    pub times: Option<Vec<i64>>,
    /// Place in the names of `groups`; null without a group field.
    pub groups: Option<Vec<u32>>,
    /// Tokens whose word is known.
    pub tokens: Vec<u32>,
    /// Tokens whose word is not known.
    pub unknown_tokens: Vec<u32>,
    /// Topic mixtures.
    pub mixtures: Mixtures,
    /// For each topic, the documents (places in these arrays) with its largest shares, largest first.
    pub typical: Vec<Vec<u32>>,
    /// The documents (places in these arrays) that are a uniform sample of all that have a known word, ascending.
    pub sample: Vec<u32>,
    /// The texts; null in the page, where the element `report-documents` holds them in blocks of `texts_per_block` documents.
    pub texts: Option<Vec<DocumentText>>,
    /// Documents in each block of texts but the last.
    pub texts_per_block: u32,
}

impl Documents {
    /// Whether there are documents, and the model knows no word of any of them.
    pub fn are_unknown(&self) -> bool {
        self.total > 0 && self.total == self.without_words
    }
}

/// Mixtures of documents: the entries of document i are those from `starts[i]` to `starts[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mixtures {
    /// Where the entries of each document begin; one more than there are documents.
    pub starts: Vec<u32>,
    /// Topics of the entries, by falling share: all shares of at least 1 %, and at least one.
    pub topics: Vec<u32>,
    /// Posterior means of the shares.
    pub shares: Vec<f64>,
    /// Their posterior standard deviations, over the sweeps kept.
    pub deviations: Vec<f64>,
}

/// The text of a document with the topic of every token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DocumentText {
    /// The text, or, where the input had counts alone, its words.
    pub text: String,
    /// Characters that were left out at the end, because the text is too long for a page.
    pub left_out: u64,
    /// Three numbers for each token whose word is known, in the order of the text: its distance from the end of the
    /// previous one, its length, both in UTF-16 units, and its topic in the last sweep. Joined words may overlap: then the
    /// distance is negative.
    pub tokens: Vec<i32>,
}

/// Topics over time, in periods that follow each other without a gap; of a running service those that have documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// The field with the time.
    pub field: String,
    /// The length of a period: `hour`, `day`, `week`, `month`, `quarter` or `year`; `period` for some seconds or more, in a
    /// running service.
    pub by: String,
    /// First moment of each period (RFC 3339, UTC).
    pub starts: Vec<String>,
    /// Documents of each period that have a known word.
    pub documents: Vec<u64>,
    /// Tokens of each period.
    pub tokens: Vec<u64>,
    /// Share of the tokens of each topic in each period; null where a period has no tokens.
    pub shares: Vec<Vec<Option<f64>>>,
    /// Lower ends of 95 % intervals: how much the shares would differ with other documents of the same kind.
    pub low: Vec<Vec<Option<f64>>>,
    /// Upper ends.
    pub high: Vec<Vec<Option<f64>>>,
    /// Jensen-Shannon distance of each period's shares from those of the last period before that has documents; null for
    /// the first, and where there are none.
    pub drift: Vec<Option<f64>>,
    /// For each topic, how its words come and go; empty in a running service.
    pub words: Vec<WordTrends>,
}

/// How words of a topic come and go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WordTrends {
    /// Words followed (places in `words` of the report).
    pub words: Vec<u32>,
    /// Tokens of each word that the topic has in each period, as drawn in the last sweep.
    pub counts: Vec<Vec<u32>>,
    /// All tokens that the topic has in each period, as drawn in the last sweep.
    pub tokens: Vec<u64>,
    /// For each period, words (places in `words` here) that the topic uses more than in the period before, most certain
    /// first: at most five whose log odds ratio is 2 standard errors above 0.
    pub rising: Vec<Vec<u32>>,
    /// The same for words that it uses less.
    pub falling: Vec<Vec<u32>>,
}

/// Topics by group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// The field with the group.
    pub field: String,
    /// Names of the groups, in alphabetical order.
    pub names: Vec<String>,
    /// Documents of each group that have a known word.
    pub documents: Vec<u64>,
    /// Tokens of each group.
    pub tokens: Vec<u64>,
    /// Share of the tokens of each topic in each group; null where a group has no tokens.
    pub shares: Vec<Vec<Option<f64>>>,
    /// Lower ends of 95 % intervals: how much the shares would differ with other documents of the same kind.
    pub low: Vec<Vec<Option<f64>>>,
    /// Upper ends.
    pub high: Vec<Vec<Option<f64>>>,
}
