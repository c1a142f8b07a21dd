//! The front door: what there is, for a person who comes to `/`, and the interactive page.

use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use utoipa::openapi::OpenApi;

use super::kept::Kept;
use super::page::{self, Page};
use crate::entry::Shared;
use crate::http::ApiError;
use crate::mcp;

const DOCUMENT: &str = "/openapi.json";
const PAGE: &str = "/docs/";

#[derive(Serialize)]
struct Links {
    name: &'static str,
    version: &'static str,
    /// The interactive page, unless it is switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    docs: Option<&'static str>,
    openapi: &'static str,
    mcp: &'static str,
    health: &'static str,
    readiness: &'static str,
}

/// What the front door holds, for all workers.
#[derive(Clone)]
pub(super) struct Front {
    document: Data<Kept>,
    /// The interactive page, unless it is switched off.
    page: Option<Data<Page>>,
}

/// Whether the interactive page is served.
struct HasPage(bool);

impl Front {
    /// Makes the answers that are the same for everybody.
    pub(super) fn new(document: &OpenApi, public_url: &str, has_page: bool) -> anyhow::Result<Self> {
        let document = Data::new(Kept::new("application/json", serde_json::to_vec(document)?)?);
        Ok(Self { document, page: has_page.then(|| Data::new(Page::new(DOCUMENT, public_url))) })
    }

    /// Serves `/`, the document, and the interactive page unless it is switched off. The document stays: it says nothing
    /// that is not in the repository, and clients are made from it.
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
    document: Data<Kept>,
    shared: Data<Shared>,
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

/// Browsers name HTML; programs take anything.
fn wants_html(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

async fn to_page() -> HttpResponse {
    HttpResponse::PermanentRedirect().insert_header((header::LOCATION, PAGE)).finish()
}
