//! Reading what a request carries, within a size and a time: the same for every face.

use std::future::Future;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::{Bytes, BytesMut, Data};
use actix_web::{HttpMessage, HttpRequest};
use futures_util::StreamExt;
use knowhow_domain::{Error, Result, validation_message};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use url::form_urlencoded;

use super::{Lease, Shared};

/// JSON may spell a byte as six characters, so this is what the largest skill can need.
pub const JSON_BYTES: usize = 2 * 1024 * 1024;

/// The bytes of a request's body, once it has come.
pub(super) struct BodyBytes(pub(super) usize);

/// Ends when a reader of the request's body is done, or has given up.
pub(super) struct Arrival(oneshot::Receiver<()>);

impl Arrival {
    /// Waits for the body that a reader is at; there may be none.
    pub(super) async fn of(request: &HttpRequest) {
        let announced = request.extensions_mut().remove::<Self>();
        if let Some(Self(arrival)) = announced {
            let _ = arrival.await;
        }
    }
}

/// Reads a body. That it is being read is known before the reading begins, and who begins to work waits until it has ended: so both
/// must be polled together, as extractors are.
pub fn announce<F: Future>(request: &HttpRequest, reading: F) -> impl Future<Output = F::Output> + use<F> {
    let (arrived, arrival) = oneshot::channel();
    request.extensions_mut().insert(Arrival(arrival));
    async move {
        let read = reading.await;
        drop(arrived);
        read
    }
}

/// Reads a whole body of at most `limit` bytes, as [`announce`] says.
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

/// Waits for a body no longer than the settings allow.
pub async fn in_time<T>(request: &HttpRequest, reading: impl Future<Output = Result<T>>) -> Result<T> {
    let timeout = request.app_data::<Data<Shared>>().map_or(Duration::from_secs(30), |s| s.body_timeout);
    let late = |_| Error::Malformed(format!("the request body did not arrive within {} s", timeout.as_secs()));
    tokio::time::timeout(timeout, reading).await.map_err(late)?
}

/// Refuses a body that is not said to be JSON.
pub fn check_media_type(request: &HttpRequest) -> Result<()> {
    if request.content_type().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Error::UnsupportedMediaType("send application/json".into()))
}

/// Reads an object of JSON.
///
/// # Errors
/// `Malformed`, `Invalid` with each finding.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    // Serde would take a list of a struct's members in their order; nobody means that.
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[') {
        return Err(Error::invalid("", "send a JSON object, not a list"));
    }
    validation_message::read_json(bytes)
}

/// Reads the parameters of a query.
///
/// # Errors
/// `Malformed`, with the parameter.
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
