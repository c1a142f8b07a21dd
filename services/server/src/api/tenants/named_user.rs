//! Extracts the user that an admin's request names.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use knowhow_domain::Error;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::{ApiError, Query};

/// Placeholder in the path for an external id that is in the query.
const IN_QUERY: &str = "-";

/// An external id that cannot be sent in a path.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExternalIdQuery {
    /// The external id, if clients or proxies would change it in a path, e.g. `.` or `..`. The path then has `-` in its
    /// place.
    #[param(max_length = 255)]
    external_id: Option<String>,
}

/// External id of a user, from the path, or from the query if the path has `-`.
pub(crate) struct NamedUser(String);

impl Deref for NamedUser {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromRequest for NamedUser {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(read(request).map(Self))
    }
}

fn read(request: &HttpRequest) -> Result<String, ApiError> {
    let Query(ExternalIdQuery { external_id }) = Query::read(request)?;
    let in_path = percent_decode_str(request.match_info().get("external_id").unwrap_or_default());
    let in_path = in_path.decode_utf8().map_err(|_| Error::not_found("user"))?;
    match external_id {
        None => Ok(in_path.into_owned()),
        Some(external_id) if in_path == IN_QUERY => Ok(external_id),
        Some(_) => {
            let detail = "external_id in the query takes '-' in the path: /v1/admin/users/-?external_id=<id>";
            Err(Error::Malformed(detail.into()).into())
        }
    }
}
