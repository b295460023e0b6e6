//! What is asked about the model: facts, topics, words, the timeline, the file.

use super::App;
use super::problem::{Answer, Problem, json, json_bytes};
use crate::status::Progress;
use crate::view::{MOST_WORDS, Topic, TopicsAnswer, View, WORDS_PREPARED, WordAnswer};
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use gibbstream::explore::WordOrder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// What the model is.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelAnswer {
    /// `gibbstream/model/1`.
    schema: &'static str,
    /// The kind of model.
    model: String,
    /// The method that learns it.
    method: String,
    /// Topics that there are.
    topics: usize,
    /// Hash of statistics, parameters and counters of what answers now; nothing before anything was learnt.
    model_hash: Option<String>,
    /// Documents that what answers now has learnt from.
    documents: u64,
    /// The seed.
    seed: u64,
    /// Whether documents are learnt from.
    read_only: bool,
    /// All settings.
    #[schema(value_type = Object)]
    settings: Value,
    /// Where learning stands, which may be a little further.
    progress: Progress,
}

/// Says what the model is and where learning stands
#[utoipa::path(get, path = "/v1/model", tag = "ask", responses((status = 200, description = "Facts", body = ModelAnswer)))]
pub async fn model(State(app): State<Arc<App>>) -> Answer<Response> {
    let view = app.views.latest();
    let settings = view.as_ref().map_or(&app.settings, |view| &view.snapshot().settings);
    json(&ModelAnswer {
        schema: "gibbstream/model/1",
        model: settings.model.name().to_owned(),
        method: settings.name.clone(),
        topics: view.as_ref().map_or(settings.components, |view| view.snapshot().components()),
        model_hash: view.as_ref().map(|view| view.hash().to_owned()),
        documents: view.as_ref().map_or(0, |view| view.documents()),
        seed: settings.seed.0,
        read_only: app.log.is_none(),
        settings: serde_json::json!(settings),
        progress: app.progress(),
    })
}

/// How words of topics are chosen.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WordsQuery {
    /// Words per topic
    #[param(minimum = 1, maximum = 1000, default = 10, nullable = false)]
    #[serde(default)]
    words: Option<usize>,
    /// Order words by X log p(word | topic) + (1 - X) log p(word | topic) / p(word), instead of by what they tell
    #[param(minimum = 0, maximum = 1, nullable = false)]
    #[serde(default)]
    lambda: Option<f64>,
}

impl WordsQuery {
    fn check(query: Result<Query<Self>, QueryRejection>) -> Answer<(usize, WordOrder)> {
        let Query(query) = query.map_err(|refused| {
            let text = refused.body_text();
            let reason = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, reason)| reason);
            Problem::unprocessable(format!("{reason}; /v1/openapi.json describes the parameters"))
        })?;
        let (words, lambda) = (query.words.unwrap_or(WORDS_PREPARED), query.lambda);
        if !(1..=MOST_WORDS).contains(&words) {
            return Err(Problem::unprocessable(format!(
                "words: {words} is not from 1 to {MOST_WORDS}; ask for fewer words"
            )));
        }
        if let Some(lambda) = lambda.filter(|lambda| !(0.0..=1.0).contains(lambda)) {
            let detail =
                format!("lambda: {lambda} is not in [0, 1]; use 1 for frequent words, 0.6 for typical ones");
            return Err(Problem::unprocessable(detail));
        }
        Ok((words, lambda.into()))
    }
}

/// Lists all topics with their best words
#[utoipa::path(get, path = "/v1/topics", tag = "ask", params(WordsQuery), responses(
    (status = 200, description = "The topics; none before anything was learnt", body = TopicsAnswer),
    (status = 422, description = "The parameters make no sense", body = Problem, content_type = "application/problem+json"),
    (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json")))]
pub async fn topics(
    State(app): State<Arc<App>>,
    query: Result<Query<WordsQuery>, QueryRejection>,
) -> Answer<Response> {
    let (words, order) = WordsQuery::check(query)?;
    let Some(view) = app.views.latest() else {
        return json(&TopicsAnswer {
            schema: "gibbstream/topics/1",
            model_hash: None,
            documents: 0,
            note: Some("nothing has been learnt yet: topics are there when the first minibatch is full"),
            topics_used: None,
            topics_created: None,
            topics: Vec::new(),
        });
    };
    if (words, order) == (WORDS_PREPARED, WordOrder::Telling) {
        return Ok(json_bytes(view.prepared_topics()));
    }
    let answer = summarised(&app, view, words, order).await?;
    json(&answer)
}

/// Words of all topics in another order than the prepared one.
async fn summarised(app: &App, view: Arc<View>, words: usize, order: WordOrder) -> Answer<TopicsAnswer> {
    let _turn = app.inference_turn().await?;
    let work = move || view.topics(words, order);
    let answer = tokio::task::spawn_blocking(work).await.map_err(|_| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the request could not be processed; please report this",
        )
    })?;
    Ok(answer?)
}

/// Shows one topic
#[utoipa::path(get, path = "/v1/topics/{id}", tag = "ask",
    params(("id" = u64, Path, description = "Its number"), WordsQuery), responses(
    (status = 200, description = "The topic", body = Topic),
    (status = 404, description = "There is no such topic", body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "Nothing has been learnt yet", body = Problem, content_type = "application/problem+json"),
    (status = 422, description = "The parameters make no sense", body = Problem, content_type = "application/problem+json"),
    (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json")))]
pub async fn topic(
    State(app): State<Arc<App>>,
    id: Result<Path<u64>, PathRejection>,
    query: Result<Query<WordsQuery>, QueryRejection>,
) -> Answer<Response> {
    let Ok(Path(id)) = id else { return Err(Problem::not_found("topics have numbers; see /v1/topics")) };
    let (words, order) = WordsQuery::check(query)?;
    let view = app.view()?;
    if id >= view.met()? as u64 {
        return Err(Problem::not_found(format!("there is no topic {id}; see /v1/topics")));
    }
    let answer = summarised(&app, view, words, order).await?;
    match answer.topics.into_iter().nth(id as usize) {
        Some(topic) => json(&topic),
        None => Err(Problem::not_found(format!("there is no topic {id}; see /v1/topics"))),
    }
}

/// Says which topics a word belongs to
#[utoipa::path(get, path = "/v1/words/{word}", tag = "ask", params(("word" = String, Path, description = "A word as the model spells it")), responses(
    (status = 200, description = "Its topics", body = WordAnswer),
    (status = 404, description = "The model does not know the word", body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "Nothing has been learnt yet", body = Problem, content_type = "application/problem+json")))]
pub async fn word(
    State(app): State<Arc<App>>,
    word: Result<Path<String>, PathRejection>,
) -> Answer<Response> {
    let Ok(Path(word)) = word else { return Err(Problem::not_found("this is not a word in UTF-8")) };
    let view = app.view()?;
    match view.word(&word)? {
        Some(answer) => json(&answer),
        None => {
            Err(Problem::not_found("the model does not know this word; words are spelled as in /v1/topics"))
        }
    }
}

/// A stretch of time.
#[derive(Debug, Serialize, ToSchema)]
struct Period {
    /// Its beginning, in milliseconds since 1970.
    start: u64,
    /// Its end.
    end: u64,
    /// Documents that were learnt from.
    documents: u64,
    /// Their tokens.
    tokens: u64,
}

/// A topic over time.
#[derive(Debug, Serialize, ToSchema)]
struct TopicOverTime {
    /// Its number in the model.
    id: usize,
    /// Its share of the tokens in each period: the mean over minibatches.
    share: Vec<f64>,
    /// The standard error of each; nothing where there was one minibatch.
    standard_error: Vec<Option<f64>>,
}

/// Shares over time.
#[derive(Debug, Serialize, ToSchema)]
pub struct TimelineAnswer {
    /// `gibbstream/timeline/1`.
    schema: &'static str,
    /// The model that answers; nothing before anything was learnt.
    model_hash: Option<String>,
    /// The periods by the time at which documents came in, oldest first; those without documents are left out.
    periods: Vec<Period>,
    /// The topics.
    topics: Vec<TopicOverTime>,
}

/// Shows how the topics' shares of the documents change over time
#[utoipa::path(get, path = "/v1/timeline", tag = "ask", responses(
    (status = 200, description = "The timeline; empty before anything was learnt", body = TimelineAnswer)))]
pub async fn timeline(State(app): State<Arc<App>>) -> Answer<Response> {
    let schema = "gibbstream/timeline/1";
    let Some(view) = app.views.latest() else {
        return json(&TimelineAnswer { schema, model_hash: None, periods: Vec::new(), topics: Vec::new() });
    };
    let names = view.topic_names();
    let shares = view.timeline().shares(&names);
    let topics = (0..names.len()).map(|id| TopicOverTime {
        id,
        share: shares.iter().map(|period| period.shares[id].share).collect(),
        standard_error: shares.iter().map(|period| period.shares[id].standard_error).collect(),
    });
    let topics = topics.collect();
    let period = |period: &crate::timeline::PeriodShares| Period {
        start: period.start,
        end: period.end,
        documents: period.documents,
        tokens: period.tokens,
    };
    let periods = shares.iter().map(period).collect();
    json(&TimelineAnswer { schema, model_hash: Some(view.hash().to_owned()), periods, topics })
}

/// Gives everything that the page shows of this moment, as `gibbstream report --format json` does without documents
#[utoipa::path(get, path = "/v1/report", tag = "ask", responses(
    (status = 200, description = "A report, `gibbstream/report/1`", body = Object),
    (status = 409, description = "Nothing has been learnt yet", body = Problem, content_type = "application/problem+json"),
    (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json")))]
pub async fn report(State(app): State<Arc<App>>) -> Answer<Response> {
    let view = app.view()?;
    let _turn = app.inference_turn().await?;
    let text = tokio::task::spawn_blocking(move || view.report()).await.map_err(|_| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the report could not be made; please report this")
    })??;
    Ok(json_bytes(text))
}

/// Gives the model file of this moment
#[utoipa::path(get, path = "/v1/model.gbs", tag = "ask", responses(
    (status = 200, description = "A file for `gibbstream topics`, `infer` and all others", body = String, content_type = "application/octet-stream"),
    (status = 409, description = "Nothing has been learnt yet", body = Problem, content_type = "application/problem+json"),
    (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json")))]
pub async fn model_file(State(app): State<Arc<App>>) -> Answer<Response> {
    let view = app.view()?;
    let _turn = app.inference_turn().await?;
    let worker = view.clone();
    let bytes = tokio::task::spawn_blocking(move || worker.snapshot().to_bytes()).await.map_err(|_| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the file could not be made; please report this")
    })??;
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers
        .insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"model.gbs\""));
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", view.hash())) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
