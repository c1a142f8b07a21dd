//! The interactive page at `/docs/`, Swagger UI. Its content security policy allows only its own scripts, and only
//! requests to this service. The page forgets the token when its tab is closed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use knowhow_domain::Error;
use utoipa_swagger_ui::{Config, serve};

use crate::entry::SharedState;
use crate::http::ApiError;
use crate::listen::static_response::StaticResponse;

/// Name of the script that starts the page.
const INITIALIZER: &str = "swagger-initializer.js";
/// A plugin that the script of every Swagger UI version loads. Our own plugin is inserted after it.
const FIRST_PLUGIN: &str = "SwaggerUIBundle.plugins.DownloadUrl";
/// Source of our own plugin `EmptyBodies`.
const EMPTY_BODIES: &str = include_str!("page/empty_bodies.js");

/// The interactive page and its files.
pub(super) struct Page {
    config: Arc<Config<'static>>,
    policy: String,
    /// The files by name. A file is compressed on its first use.
    files: Mutex<HashMap<String, Arc<StaticResponse>>>,
}

impl Page {
    /// Creates the page for the OpenAPI document at `document`. It may send requests to its own origin and to
    /// `public_url`.
    pub(super) fn new(document: &'static str, public_url: &str) -> Self {
        let origin = url::Url::parse(public_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
             connect-src 'self' {origin}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
        );
        let config = Config::new([document]).try_it_out_enabled(true);
        Self { config: Arc::new(config), policy, files: Mutex::default() }
    }

    /// Returns the file with this name; `None` if there is no such file.
    fn file(&self, name: &str) -> Result<Option<Arc<StaticResponse>>, Error> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(name) {
            return Ok(Some(file.clone()));
        }
        let served = serve(name, self.config.clone()).map_err(|error| Error::internal(error.to_string()))?;
        let Some(file) = served else { return Ok(None) };
        let mut bytes = file.bytes.into_owned();
        if name == INITIALIZER {
            let starts = String::from_utf8(bytes).map_err(Error::internal)?;
            let plugins = format!("{FIRST_PLUGIN}, EmptyBodies");
            bytes = format!("{EMPTY_BODIES}{}", starts.replace(FIRST_PLUGIN, &plugins)).into_bytes();
        }
        let response = StaticResponse::new(&file.content_type, bytes).map_err(Error::internal)?;
        Ok(Some(files.entry(name.to_owned()).or_insert_with(|| Arc::new(response)).clone()))
    }
}

/// Serves a file of the page.
pub(super) async fn answer(
    request: HttpRequest,
    name: Path<String>,
    page: Data<Page>,
    shared: Data<SharedState>,
) -> HttpResponse {
    if let Err(refusal) = shared.rates.count_stranger(&request) {
        return ApiError::from(refusal).error_response();
    }
    match page.file(&name) {
        Ok(Some(file)) => {
            let mut response = file.answer(&request);
            if let Ok(policy) = header::HeaderValue::from_str(&page.policy) {
                response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
            }
            response
        }
        Ok(None) => ApiError::from(Error::not_found("file of the page")).error_response(),
        Err(error) => ApiError::from(error).error_response(),
    }
}
