//! The front door: what there is, for whoever comes to `/`, and the interactive page.

use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, web};
use serde::Serialize;
use utoipa::openapi::OpenApi;
use utoipa_swagger_ui::{Config as SwaggerConfig, SwaggerUi};

use crate::mcp;

const DOCUMENT: &str = "/openapi.json";
const PAGE: &str = "/docs/";

/// Where what is.
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

/// Whether the interactive page is served.
struct HasPage(bool);

/// Serves `/`, the document, and the interactive page unless it is switched off. The document stays: it says nothing that
/// is not in the repository, and clients are made from it.
pub(super) fn open(config: &mut ServiceConfig, document: &OpenApi, has_page: bool) {
    config.app_data(Data::new(HasPage(has_page))).route("/", web::get().to(answer)).route("/", web::head().to(answer));
    if has_page {
        let settings = SwaggerConfig::default().persist_authorization(true).try_it_out_enabled(true);
        let page = SwaggerUi::new("/docs/{_:.*}").config(settings).url(DOCUMENT, document.clone());
        config.service(page).route("/docs", web::get().to(to_page));
    } else {
        let document = document.clone();
        let serve = move || {
            let document = document.clone();
            async move { HttpResponse::Ok().json(document) }
        };
        config.route(DOCUMENT, web::get().to(serve));
    }
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
