//! Reading the body of a request, not further than it may go.

use super::App;
use super::problem::{Answer, Problem};
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;

/// A body, and the room that it takes.
pub struct Taken {
    pub bytes: Vec<u8>,
    pub room: Option<OwnedSemaphorePermit>,
}

/// Reads a body; refuses what is too large, too slow, compressed, or too much at a time.
pub async fn read(app: &App, headers: &HeaderMap, body: Body) -> Answer<Taken> {
    let limits = &app.limits;
    if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        let detail = "compressed bodies are not supported; send the body uncompressed";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let too_large = || {
        let detail = format!("the body has more than {} bytes; send it in parts", limits.body_bytes);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if declared.is_some_and(|length: usize| length > limits.body_bytes) {
        return Err(too_large());
    }
    let reading = async {
        let (mut body, mut bytes) = (body, Vec::new());
        let mut room: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                Problem::new(StatusCode::BAD_REQUEST, format!("the body could not be read: {error}"))
            })?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > limits.body_bytes {
                return Err(too_large());
            }
            let more = app.room.clone().try_acquire_many_owned(data.len() as u32).map_err(|_| {
                let detail =
                    "the bodies of other requests use all the memory allowed for them; try again later";
                Problem::busy(StatusCode::TOO_MANY_REQUESTS, detail, 1)
            })?;
            match &mut room {
                Some(room) => room.merge(more),
                None => room = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Taken { bytes, room })
    };
    let slow = || {
        let detail = format!("the body did not come within {} seconds", limits.body_timeout.as_secs_f64());
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
    };
    tokio::time::timeout(limits.body_timeout, reading).await.map_err(|_| slow())?
}
