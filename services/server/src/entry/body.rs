//! Reads request bodies within limits on size and time, for REST and MCP.

use std::future::Future;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::{Bytes, BytesMut, Data};
use actix_web::{HttpMessage, HttpRequest};
use futures_util::StreamExt;
use knowhow_domain::kernel::validation_message;
use knowhow_domain::{Error, Result};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use url::form_urlencoded;

use super::{Lease, SharedState};

/// Maximum size of a JSON body in bytes. It is enough for the largest skill, although JSON may escape a byte as six
/// characters.
pub const JSON_BYTES: usize = 2 * 1024 * 1024;

/// Number of bytes in a request's body, stored in the request after the body was read.
pub(super) struct BodyBytes(pub(super) usize);

/// Notification that the reader of the request body has finished or failed.
pub(super) struct Arrival(oneshot::Receiver<()>);

impl Arrival {
    /// Waits until the body of a request is read, if a reader was announced.
    pub(super) async fn of(request: &HttpRequest) {
        let announced = request.extensions_mut().remove::<Self>();
        if let Some(Self(arrival)) = announced {
            let _ = arrival.await;
        }
    }
}

/// Wraps the reader of a body, so that `Arrival::of` can wait for it. The returned future must be polled concurrently
/// with the waiting future, as extractors are; otherwise the wait never ends.
pub fn announce<F: Future>(request: &HttpRequest, reading: F) -> impl Future<Output = F::Output> + use<F> {
    let (arrived, arrival) = oneshot::channel();
    request.extensions_mut().insert(Arrival(arrival));
    async move {
        let read = reading.await;
        drop(arrived);
        read
    }
}

/// Reads a body of at most `limit` bytes. The read is wrapped in [`announce`], so that `Arrival::of` can wait for it.
pub fn read(request: &HttpRequest, payload: Payload, limit: usize) -> impl Future<Output = Result<Bytes>> + use<> {
    let whole = request.clone();
    announce(request, async move { read_whole(&whole, payload, limit).await })
}

async fn read_whole(request: &HttpRequest, mut payload: Payload, limit: usize) -> Result<Bytes> {
    let too_large = || Error::TooLarge { what: "the request body".into(), limit: limit as u64 };
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut lease = Lease::of(request);
    let reading = async {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|e| Error::Malformed(format!("the request body broke off: {e}")))?;
            if bytes.len() + chunk.len() > limit {
                return Err(too_large());
            }
            lease.grow(chunk.len())?;
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    };
    let bytes = in_time(request, reading).await?;
    lease.keep(request);
    request.extensions_mut().insert(BodyBytes(bytes.len()));
    Ok(bytes)
}

/// Limits the time for reading a body to the configured timeout.
pub async fn in_time<T>(request: &HttpRequest, reading: impl Future<Output = Result<T>>) -> Result<T> {
    let timeout = request.app_data::<Data<SharedState>>().map_or(Duration::from_secs(30), |s| s.body_timeout);
    let late = |_| Error::Malformed(format!("the request body did not arrive within {} s", timeout.as_secs()));
    tokio::time::timeout(timeout, reading).await.map_err(late)?
}

/// Rejects a body with another media type than JSON.
pub fn check_media_type(request: &HttpRequest) -> Result<()> {
    if request.content_type().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Error::UnsupportedMediaType("send application/json".into()))
}

/// Parses a JSON object.
///
/// # Errors
/// `Malformed` if it is not JSON. `Invalid` with all findings if it does not fit the type.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    // Serde would accept a list with the values of the members in order.
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[') {
        return Err(Error::invalid("", "send a JSON object, not a list"));
    }
    validation_message::read_json(bytes)
}

/// Parses the parameters of a query.
///
/// # Errors
/// `Malformed`, with the name of the invalid parameter.
pub fn read_query<T: DeserializeOwned>(query: &str) -> Result<T> {
    let parameters = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let (name, reason) = (error.path().to_string(), validation_message::reason(&error.inner().to_string()));
        match name.as_str() {
            "." => Error::Malformed(format!("the query cannot be read: {}", error.inner())),
            name => Error::Malformed(format!("the query parameter '{name}' {reason}")),
        }
    })
}
