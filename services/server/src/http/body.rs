//! Reading what a request carries, within a size and a time, with problem+json for whatever cannot be read.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::{Bytes, BytesMut, Data};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use futures_util::StreamExt;
use knowhow_domain::Error;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use super::{ApiError, Lease, Shared, misfit};

/// JSON may spell a byte as six characters, so this is what the largest skill can need.
pub const JSON_BYTES: usize = 2 * 1024 * 1024;
const RAW_BYTES: usize = 4 * 1024 * 1024;

type Reading<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// A JSON body of at most 2 MiB.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned + 'static> FromRequest for JsonBody<T> {
    type Error = ApiError;
    type Future = Reading<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            check_media_type(&request)?;
            parse(&read(&request, payload, JSON_BYTES).await?).map(Self)
        })
    }
}

/// A JSON body that may be left out.
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default + 'static> FromRequest for OptionalJson<T> {
    type Error = ApiError;
    type Future = Reading<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let bytes = read(&request, payload, JSON_BYTES).await?;
            if bytes.is_empty() {
                return Ok(Self(T::default()));
            }
            check_media_type(&request)?;
            parse(&bytes).map(Self)
        })
    }
}

/// A body of any kind, at most 4 MiB; what is stored of it has its own limit.
pub struct RawBody(pub Bytes);

impl FromRequest for RawBody {
    type Error = ApiError;
    type Future = Reading<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move { Ok(Self(read(&request, payload, RAW_BYTES).await?)) })
    }
}

/// Reads a whole body of at most `limit` bytes.
pub async fn read(request: &HttpRequest, mut payload: Payload, limit: usize) -> Result<Bytes, ApiError> {
    let too_large = || Error::TooLarge { what: "the request body".into(), limit: limit as u64 };
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large().into());
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
    Ok(bytes)
}

/// Waits for a body no longer than the settings allow.
pub async fn in_time<T>(request: &HttpRequest, reading: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let timeout = request.app_data::<Data<Shared>>().map_or(Duration::from_secs(30), |s| s.body_timeout);
    let late = |_| Error::Malformed(format!("the request body did not arrive within {} s", timeout.as_secs()));
    tokio::time::timeout(timeout, reading).await.map_err(late)?
}

/// Refuses a body that is not said to be JSON.
pub fn check_media_type(request: &HttpRequest) -> Result<(), ApiError> {
    if request.content_type().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Error::UnsupportedMediaType("send application/json".into()).into())
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // Serde would take a list of a struct's members in their order; nobody means that.
    if bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'[') {
        return Err(Error::invalid("", "send a JSON object, not a list").into());
    }
    Ok(misfit::read_json(bytes)?)
}

/// Query parameters.
pub struct Query<T>(pub T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(read_query(request.query_string()).map(Self).map_err(Into::into))
    }
}

fn read_query<T: DeserializeOwned>(query: &str) -> Result<T, Error> {
    let parameters = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let (name, reason) = (error.path().to_string(), misfit::reason(&error.inner().to_string()));
        match name.as_str() {
            "." => Error::Malformed(format!("the query cannot be read: {}", error.inner())),
            name => Error::Malformed(format!("the query parameter '{name}' {reason}")),
        }
    })
}
