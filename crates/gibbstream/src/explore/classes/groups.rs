//! Topics by group.

use super::moments::{ClassMoments, share_table};
use super::trends::{ClassSums, FollowedWords, PeriodCounts, certainty};
use crate::error::{Error, Result};
use crate::explore::report::{Groups, WordTrends};
use serde_json::Value;
use std::collections::BTreeMap;

/// Groups that a page can show and a report holds.
const MOST_GROUPS: usize = 500;

/// Sums for each group.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupMoments(BTreeMap<String, ClassSums>);

impl GroupMoments {
    /// Adds a document: its group, how long it is, its mixture, and the (word, topic) of its tokens, if words are to be
    /// counted.
    pub fn add(
        &mut self,
        (field, group): (&str, &str),
        tokens: u64,
        shares: &[f64],
        drawn: &[(u32, u32)],
        followed: &FollowedWords,
    ) -> Result<()> {
        if self.0.len() == MOST_GROUPS && !self.0.contains_key(group) {
            let problem = format!("field `{field}` has more than {MOST_GROUPS} different values");
            let advice = "name a field that puts documents into few groups";
            return Err(Error::setting("group-field", problem, advice));
        }
        let sums = self.0.entry(group.to_owned()).or_default();
        sums.class.add(tokens, shares);
        sums.words.add(drawn, followed);
        Ok(())
    }

    /// The place of a group among all of them.
    pub fn place(&self, group: &str) -> u32 {
        self.0.keys().take_while(|name| name.as_str() < group).count() as u32
    }

    /// Shares with intervals.
    pub fn report(&self, field: &str, topics: usize) -> Groups {
        let classes: Vec<Option<&ClassMoments>> = self.0.values().map(|sums| Some(&sums.class)).collect();
        let [shares, low, high] = share_table(topics, &classes);
        Groups {
            field: field.to_owned(),
            names: self.0.keys().cloned().collect(),
            documents: self.0.values().map(|sums| sums.class.documents).collect(),
            tokens: self.0.values().map(|sums| sums.class.tokens).collect(),
            shares,
            low,
            high,
        }
    }

    /// Counts of words of a topic by group, and for each group the words that the topic uses there more, and less, than in
    /// all other groups.
    pub fn words(&self, topic: usize, followed: &FollowedWords) -> WordTrends {
        let counts: Vec<Option<&PeriodCounts>> = self.0.values().map(|sums| Some(&sums.words)).collect();
        followed.trends(topic, &counts, |counts, tokens, group| {
            let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            let here = (u64::from(counts[group]), tokens[group]);
            let elsewhere = (all - here.0, tokens.iter().sum::<u64>() - here.1);
            (here.1 > 0 && elsewhere.1 > 0).then(|| certainty(elsewhere, here))
        })
    }
}

/// The name of the group that a field means, or what is wrong with it.
pub(crate) fn group_name(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(answer) => Ok(answer.to_string()),
        Value::Null | Value::String(_) => Err("there is no group".into()),
        Value::Array(_) => Err("a list is not a group".into()),
        Value::Object(_) => Err("an object is not a group".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_by_name_with_their_documents() {
        let mut groups = GroupMoments::default();
        for (name, tokens, share) in [("b", 10, 0.2), ("a", 4, 1.0), ("b", 30, 0.6)] {
            groups.add(("source", name), tokens, &[share, 1.0 - share], &[], &FollowedWords::default()).unwrap();
        }
        let report = groups.report("source", 2);
        assert_eq!((report.names, report.documents, report.tokens), (vec!["a".into(), "b".into()], vec![1, 2], vec![4, 40]));
        assert_eq!(report.shares[0], [Some(1.0), Some(0.5)]);
        assert_eq!((report.low[0][0], report.high[1][1].is_some()), (None, true));
        assert_eq!((groups.place("a"), groups.place("b")), (0, 1));
    }

    #[test]
    fn a_name_of_every_document_is_no_group() {
        let mut groups = GroupMoments::default();
        let followed = FollowedWords::default();
        let refused =
            (0..).find_map(|i| groups.add(("id", &i.to_string()), 1, &[1.0], &[], &followed).err()).unwrap();
        assert_eq!(
            refused.to_string(),
            "group-field: field `id` has more than 500 different values; name a field that puts documents into few groups"
        );
    }
}
