//! JSON lines: one object a line, with a field for the text and perhaps one for the name of the document.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::bag::Bag;
use crate::corpus::bytes::lines::Lines;
use crate::corpus::stream::RecordReader;
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::text::vocabulary::WordIds;
use crate::error::{Error, Place, Result};

/// Names of the fields that are read.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    pub text: String,
    pub id: String,
    /// Fields that documents keep.
    pub kept: Vec<String>,
    /// What they must be like.
    pub check: FieldCheck,
}

impl Fields {
    /// Refuses a record whose fields to keep are not what they must be like.
    pub fn check(&self, kept: &[Value], place: impl FnOnce() -> Place) -> Result<()> {
        let Some(check) = &self.check.0 else { return Ok(()) };
        check(kept).map_err(|(problem, advice)| Error::bad_record(place(), "wrong value", problem, advice))
    }
}

/// Looks at the fields that a document keeps, in their order, and says what is wrong with them and what to do about it.
#[derive(Clone, Default)]
pub struct FieldCheck(Option<Arc<CheckValues>>);

type CheckValues = dyn Fn(&[Value]) -> Result<(), (String, String)> + Send + Sync;

impl FieldCheck {
    /// Checks by this function.
    pub fn new(check: impl Fn(&[Value]) -> Result<(), (String, String)> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(check)))
    }
}

impl fmt::Debug for FieldCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "FieldCheck" } else { "no check" })
    }
}

/// Reads JSON lines.
pub(crate) struct JsonLinesReader {
    lines: Lines,
    fields: Arc<Fields>,
    tokenizer: Arc<Tokenizer>,
    bad: Arc<BadRecords>,
    bag: Bag,
}

/// What is wrong with a line: the kind of flaw, the flaw itself, and what to do about it.
struct Flaw(&'static str, String, String);

impl JsonLinesReader {
    pub fn new(lines: Lines, fields: Arc<Fields>, tokenizer: Arc<Tokenizer>, bad: Arc<BadRecords>) -> Self {
        Self { lines, fields, tokenizer, bad, bag: Bag::default() }
    }
}

impl RecordReader for JsonLinesReader {
    fn bad(&self) -> &BadRecords {
        &self.bad
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        loop {
            let Some(line) = self.lines.next_text()? else { return Ok(None) };
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.bag.clear();
            return match read_object(line, &self.fields, &self.tokenizer, &mut self.bag, words) {
                Err(Flaw(kind, problem, advice)) => {
                    Err(Error::bad_record(self.lines.place(), kind, problem, advice))
                }
                Ok((id, kept)) => {
                    self.bag.check(|| {
                        let name = id.as_ref().map_or("the document".into(), |id| format!("document `{id}`"));
                        (self.lines.place(), name)
                    })?;
                    self.fields.check(&kept, || self.lines.place())?;
                    Ok(Some(self.bag.take(id, kept)))
                }
            };
        }
    }

    fn pass(&mut self) -> Result<bool> {
        while let Some(line) = self.lines.next_bytes()? {
            if !line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Puts the words of one line into the bag and returns the name of the document and the fields to keep.
fn read_object(
    line: &str,
    fields: &Fields,
    tokenizer: &Tokenizer,
    bag: &mut Bag,
    words: &mut dyn WordIds,
) -> Result<(Option<String>, Vec<Value>), Flaw> {
    if !line.trim_ascii_start().starts_with('{') {
        let value: Value = serde_json::from_str(line).map_err(|error| broken(&error))?;
        return Err(Flaw(
            "not an object",
            format!("is {}, not a JSON object", kind(&value)),
            "write one object per line, such as {\"id\": \"1\", \"text\": \"...\"}".into(),
        ));
    }
    let mut json = serde_json::Deserializer::from_str(line);
    let object = json.deserialize_map(ObjectVisitor(fields)).map_err(|error| broken(&error))?;
    json.end().map_err(|error| broken(&error))?;
    match object.text {
        Some(Value::String(text)) => bag.add_text(&text, tokenizer, words),
        Some(Value::Array(tokens)) => {
            for (at, token) in tokens.iter().enumerate() {
                let word = ready_made(token).map_err(|problem| {
                    Flaw(
                        "wrong type of field",
                        format!("token {} of field `{}` {problem}", at + 1, fields.text),
                        "a list of tokens holds strings".into(),
                    )
                })?;
                if !word.is_empty() {
                    bag.add(words.id(word), 1);
                }
            }
        }
        Some(other) => {
            return Err(Flaw(
                "wrong type of field",
                format!("field `{}` is {}, not a string or a list of tokens", fields.text, kind(&other)),
                "name the field that holds the text with {text-field}".into(),
            ));
        }
        None => return Err(missing_field(line, &fields.text)),
    }
    let id = match object.id {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => Some(id),
        Some(Value::Number(id)) => Some(id.to_string()),
        Some(other) => {
            return Err(Flaw(
                "wrong type of field",
                format!("field `{}` is {}, not a string or a number", fields.id, kind(&other)),
                "name the field that holds the document's name with {id-field}".into(),
            ));
        }
    };
    Ok((id, object.kept))
}

fn ready_made(token: &Value) -> Result<&str, String> {
    let word = token.as_str().ok_or_else(|| format!("is {}", kind(token)))?.trim();
    if word.contains(['\n', '\r']) { Err("has a line break in it".into()) } else { Ok(word) }
}

fn missing_field(line: &str, field: &str) -> Flaw {
    let object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let present: Vec<String> =
        object.keys().take(20).map(|name| format!("`{}`", name.escape_debug())).collect();
    let present = if present.is_empty() { "none".into() } else { present.join(", ") };
    Flaw(
        "field missing",
        format!("has no field `{field}` (fields: {present})"),
        "name the field that holds the text with {text-field}".into(),
    )
}

fn broken(error: &serde_json::Error) -> Flaw {
    let reason = error.to_string();
    // The parser sees one line only, so its own line number would mislead.
    let reason = reason.rfind(" at line ").map_or(reason.as_str(), |at| &reason[..at]);
    Flaw(
        "not JSON",
        format!("is not valid JSON at column {}: {reason}", error.column()),
        "every line must hold one whole JSON object".into(),
    )
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[derive(Default)]
struct Object {
    text: Option<Value>,
    id: Option<Value>,
    kept: Vec<Value>,
}

/// Reads the wanted fields and skips over the others.
struct ObjectVisitor<'a>(&'a Fields);

impl<'de> Visitor<'de> for ObjectVisitor<'_> {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object = Object { kept: vec![Value::Null; self.0.kept.len()], ..Object::default() };
        while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if let Some(place) = self.0.kept.iter().position(|kept| *kept == name) {
                let value: Value = map.next_value()?;
                if name == self.0.text {
                    object.text = Some(value.clone());
                } else if name == self.0.id {
                    object.id = Some(value.clone());
                }
                object.kept[place] = value;
            } else if name == self.0.text {
                object.text = Some(map.next_value()?);
            } else if name == self.0.id {
                object.id = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::bytes::source::Source;
    use crate::corpus::text::stop_words::StopWords;
    use serde_json::json;
    use crate::corpus::stream::DocumentReader;
    use crate::corpus::text::vocabulary::Vocabulary;

    fn read(content: &'static str) -> Result<Vec<Document>> {
        let lines = Lines::new(Source::new("in.jsonl".as_ref(), content.as_bytes())?)?;
        let fields = Fields { text: "text".into(), id: "id".into(), kept: vec!["id".into(), "year".into()], check: FieldCheck::default() };
        let tokenizer = Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() };
        let mut reader = JsonLinesReader::new(lines, Arc::new(fields), Arc::new(tokenizer), Arc::default());
        let mut vocabulary = Vocabulary::new(["cat", "New York"])?;
        let mut documents = Vec::new();
        while let Some(document) = reader.next(&mut vocabulary)? {
            documents.push(document);
        }
        Ok(documents)
    }

    #[test]
    fn text_is_tokenized_and_lists_are_taken_as_they_are() {
        let documents = read(
            "{\"id\": \"a\", \"other\": [{}], \"text\": \"Cat \\u0063at dog\"}\n\n\
             {\"text\": [\"New York\", \"Cat\", \"\"], \"id\": 7, \"year\": [1]}\n{\"text\":\"\",\"id\":null}",
        )
        .unwrap();
        let document = |id: Option<&str>, words, out_of_vocabulary, kept: Value| Document {
            id: id.map(str::to_owned),
            words,
            out_of_vocabulary,
            kept: kept.as_array().unwrap().clone(),
        };
        assert_eq!(
            documents,
            [
                document(Some("a"), vec![(0, 2)], 1, json!(["a", null])),
                document(Some("7"), vec![(1, 1)], 1, json!([7, [1]])),
                document(None, vec![], 0, json!([null, null]))
            ]
        );
    }

    #[test]
    fn deep_nesting_is_refused_not_fatal() {
        for (field, reason) in [("text", "recursion limit exceeded"), ("other", "EOF while parsing")] {
            let deep: &'static str = format!("{{\"{field}\":{}", "[".repeat(100_000)).leak();
            let text = read(deep).unwrap_err().to_string();
            assert!(text.contains(reason), "{text}");
        }
    }
}
