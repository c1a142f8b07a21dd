//! Serves `/`, the OpenAPI document and the interactive page.

use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use utoipa::openapi::OpenApi;

use super::page::{self, Page};
use crate::entry::SharedState;
use crate::http::ApiError;
use crate::listen::static_response::StaticResponse;
use crate::mcp;

const DOCUMENT: &str = "/openapi.json";
const PAGE: &str = "/docs/";

#[derive(Serialize)]
struct Links {
    name: &'static str,
    version: &'static str,
    /// Path of the interactive page, if it is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    docs: Option<&'static str>,
    openapi: &'static str,
    mcp: &'static str,
    health: &'static str,
    readiness: &'static str,
}

/// The prepared responses for `/`, the OpenAPI document and the interactive page. All worker threads share them.
#[derive(Clone)]
pub(super) struct PreparedRoutes {
    document: Data<StaticResponse>,
    /// The interactive page; `None` if it is disabled.
    page: Option<Data<Page>>,
}

struct HasPage(bool);

impl PreparedRoutes {
    /// Renders the responses in advance. They are the same for all clients.
    pub(super) fn new(document: &OpenApi, public_url: &str, has_page: bool) -> anyhow::Result<Self> {
        let document = Data::new(StaticResponse::new("application/json", serde_json::to_vec(document)?)?);
        Ok(Self { document, page: has_page.then(|| Data::new(Page::new(DOCUMENT, public_url))) })
    }

    /// Registers `/`, the document, and the interactive page if it is enabled. The document is always served: it is
    /// public in the repository anyway, and clients are generated from it.
    pub(super) fn open(&self, config: &mut ServiceConfig) {
        config.app_data(Data::new(HasPage(self.page.is_some()))).app_data(self.document.clone());
        config.route("/", web::get().to(answer)).route("/", web::head().to(answer));
        config.route(DOCUMENT, web::get().to(answer_document));
        if let Some(page) = &self.page {
            config.app_data(page.clone());
            config.route("/docs", web::get().to(to_page)).route("/docs/{file:.*}", web::get().to(page::answer));
        }
    }
}

async fn answer_document(
    request: HttpRequest,
    document: Data<StaticResponse>,
    shared: Data<SharedState>,
) -> Result<HttpResponse, ApiError> {
    shared.rates.count_stranger(&request)?;
    Ok(document.answer(&request))
}

async fn answer(request: HttpRequest, page: Data<HasPage>) -> HttpResponse {
    if page.0 && wants_html(request.headers()) {
        return HttpResponse::SeeOther().insert_header((header::LOCATION, PAGE)).finish();
    }
    HttpResponse::Ok().json(Links {
        name: "knowhow",
        version: env!("CARGO_PKG_VERSION"),
        docs: page.0.then_some(PAGE),
        openapi: DOCUMENT,
        mcp: mcp::PATH,
        health: "/healthz",
        readiness: "/readyz",
    })
}

/// Returns whether the client is a browser, which lists HTML in `Accept`.
fn wants_html(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

async fn to_page() -> HttpResponse {
    HttpResponse::PermanentRedirect().insert_header((header::LOCATION, PAGE)).finish()
}
