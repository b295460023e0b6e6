//! Documents as a report wants them: with their texts, times and groups.

use super::classes::calendar::moment;
use super::classes::groups::group_name;
use super::showcase::SourceText;
use crate::corpus::{Document, FieldCheck, ResolvedInputs};
use crate::error::{Error, Result};
use serde_json::Value;

/// A document with what a page shows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its words, name and unknown tokens.
    pub document: Document,
    /// What it was read from.
    pub text: SourceText,
    /// Its time, in seconds since 1970.
    pub time: Option<i64>,
    /// Its group.
    pub group: Option<String>,
}

/// Which fields a report reads beside words and names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFields {
    /// The field with the time.
    pub time: Option<String>,
    /// The field with the group.
    pub group: Option<String>,
}

/// What is wrong with a record, and what to do about it.
type Flaw = (String, String);

/// What a document has kept: its text, time and group.
type FieldValues<'a> = (Option<&'a Value>, Option<i64>, Option<String>);

impl RecordFields {
    /// The time that a value means.
    pub fn time(&self, value: &Value) -> Result<Option<i64>, Flaw> {
        let Some(field) = &self.time else { return Ok(None) };
        let advice = "write times as RFC 3339 (2024-05-17T10:30:00Z), dates (2024-05-17) or seconds since 1970, \
                      or skip such records with {skip-bad}";
        moment(value).map(Some).map_err(|problem| (format!("field `{field}`: {problem}"), advice.into()))
    }

    /// The group that a value means.
    pub fn group(&self, value: &Value) -> Result<Option<String>, Flaw> {
        let Some(field) = &self.group else { return Ok(None) };
        let advice = "every document needs one; name another field with {group-field}";
        group_name(value).map(Some).map_err(|problem| (format!("field `{field}`: {problem}"), advice.into()))
    }

    /// The same inputs, whose documents keep what a report reads. A time or a group that cannot be used is refused while
    /// it is read, with its file and line.
    pub fn kept_by(&self, inputs: &ResolvedInputs, text_field: &str) -> ResolvedInputs {
        let has_text = inputs.formats().all(|(_, format)| format.has_text());
        let text = has_text.then(|| text_field.to_owned());
        let names: Vec<String> = text.into_iter().chain(self.time.clone()).chain(self.group.clone()).collect();
        let fields = self.clone();
        inputs.keeping(names, FieldCheck::new(move |kept| fields.split(kept).map(drop)))
    }

    /// What was kept, in its parts.
    fn split<'a>(&self, kept: &'a [Value]) -> Result<FieldValues<'a>, Flaw> {
        let fields = usize::from(self.time.is_some()) + usize::from(self.group.is_some());
        let (text, rest) = kept.split_at(kept.len().saturating_sub(fields));
        let mut rest = rest.iter();
        let null = &Value::Null;
        let time = if self.time.is_some() { self.time(rest.next().unwrap_or(null))? } else { None };
        let group = if self.group.is_some() { self.group(rest.next().unwrap_or(null))? } else { None };
        Ok((text.first(), time, group))
    }
}

impl Record {
    /// A document that has words and counts alone.
    pub fn counts(document: Document) -> Self {
        Self { document, text: SourceText::Counts, time: None, group: None }
    }

    /// A document of inputs that keep what a report reads; see [`RecordFields::kept_by`].
    pub fn read(mut document: Document, fields: &RecordFields) -> Result<Self> {
        let kept = std::mem::take(&mut document.kept);
        let (text, time, group) =
            fields.split(&kept).map_err(|(problem, advice)| Error::setting("INPUT", problem, advice))?;
        Ok(Self { document, text: text.map_or(SourceText::Counts, SourceText::of), time, group })
    }

    /// Checks that a document has what was asked for.
    pub(super) fn check(&self, fields: &RecordFields, place: u64) -> Result<()> {
        let lacks = |setting: &str, field: &Option<String>, there: bool| match field {
            Some(field) if !there => {
                let problem = format!("document {place} has no field `{field}`");
                Err(Error::setting(setting, problem, "name a field that every document has"))
            }
            _ => Ok(()),
        };
        lacks("time-field", &fields.time, self.time.is_some())?;
        lacks("group-field", &fields.group, self.group.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_kept_come_in_their_order() {
        let both = RecordFields { time: Some("date".into()), group: Some("source".into()) };
        let document = |kept: Vec<Value>| Document { kept, ..Document::default() };
        let read = Record::read(document(vec![json!("a text"), json!("1970-01-02"), json!("x")]), &both).unwrap();
        assert_eq!(
            (read.text, read.time, read.group),
            (SourceText::Text("a text".into()), Some(86_400), Some("x".into()))
        );
        let group = RecordFields { group: Some("source".into()), ..RecordFields::default() };
        let read = Record::read(document(vec![json!(3)]), &group).unwrap();
        assert_eq!((read.text, read.time, read.group), (SourceText::Counts, None, Some("3".into())));
        let read = Record::read(document(vec![json!(["a", "b"])]), &RecordFields::default()).unwrap();
        assert_eq!(read.text, SourceText::Tokens(vec!["a".into(), "b".into()]));
        let refused = Record::read(document(vec![json!("t"), json!("soon"), json!("x")]), &both).unwrap_err();
        assert!(refused.to_string().contains("field `date`: `soon` is not a time"), "{refused}");
        let record = Record::counts(Document::default());
        let refused = record.check(&both, 7).unwrap_err().to_string();
        assert_eq!(refused, "time-field: document 7 has no field `date`; name a field that every document has");
    }
}
