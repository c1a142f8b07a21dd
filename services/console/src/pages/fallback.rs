//! The answer to an unknown path.

use actix_web::HttpResponse;
use knowhow_domain::Error;

use crate::failure::Failure;

/// Reports that there is no such page.
pub async fn answer() -> Result<HttpResponse, Failure> {
    Err(Error::not_found("page").into())
}
