//! Extractors for bodies and queries. They report unreadable input as problem+json.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::{Bytes, Path};
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;

use super::ApiError;
use crate::entry::{JSON_BYTES, check_media_type, parse, read_body, read_query};

/// Maximum size of a raw body in bytes. It is enough for the largest file that a tenant may allow.
const RAW_BYTES: usize = 32 * 1024 * 1024;

type Reading<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned + 'static> FromRequest for JsonBody<T> {
    type Error = ApiError;
    type Future = Reading<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = read_body(request, payload.take(), JSON_BYTES);
        let request = request.clone();
        Box::pin(async move {
            check_media_type(&request)?;
            Ok(Self(parse(&body.await?)?))
        })
    }
}

/// A JSON body that the client may omit.
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default + 'static> FromRequest for OptionalJson<T> {
    type Error = ApiError;
    type Future = Reading<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = read_body(request, payload.take(), JSON_BYTES);
        let request = request.clone();
        Box::pin(async move {
            let bytes = body.await?;
            if bytes.is_empty() {
                return Ok(Self(T::default()));
            }
            check_media_type(&request)?;
            Ok(Self(parse(&bytes)?))
        })
    }
}

/// A body of any media type, of at most 32 MiB. Some endpoints have a lower limit.
pub struct RawBody(pub Bytes);

impl FromRequest for RawBody {
    type Error = ApiError;
    type Future = Reading<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let body = read_body(request, payload.take(), RAW_BYTES);
        Box::pin(async move { Ok(Self(body.await?)) })
    }
}

/// The path and query parameters of a request.
pub struct UrlParameters<P, Q> {
    pub path: P,
    pub query: Q,
}

impl<P: DeserializeOwned, Q: DeserializeOwned> FromRequest for UrlParameters<P, Q> {
    type Error = actix_web::Error;
    type Future = std::future::Ready<Result<Self, actix_web::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let mut read = || {
            let path = Path::<P>::from_request(request, payload).into_inner()?.into_inner();
            let query = read_query(request.query_string()).map_err(ApiError::from)?;
            Ok(Self { path, query })
        };
        std::future::ready(read())
    }
}

pub struct Query<T>(pub T);

impl<T> Deref for Query<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned> Query<T> {
    /// Parses the query of a request.
    pub fn read(request: &HttpRequest) -> Result<Self, ApiError> {
        read_query(request.query_string()).map(Self).map_err(Into::into)
    }
}

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Self::read(request))
    }
}
