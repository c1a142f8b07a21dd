//! The operations of the document, as the server asks about them: which query parameters one knows, which methods a path
//! takes. Read from the document, so that no endpoint can forget to be in it.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode, header};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use knowhow_domain::Error;
use knowhow_telemetry::metrics;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;
use utoipa::openapi::path::{Operation as Described, ParameterIn, PathItem};
use utoipa::openapi::{OpenApi, RefOr};

use super::{ApiError, Problem};

/// One way to call one path.
struct Operation {
    template: Vec<String>,
    method: &'static str,
    parameters: Vec<String>,
}

/// All operations of the API.
pub struct Operations(Vec<Operation>);

impl Operations {
    /// The operations of a document.
    pub fn of(document: &OpenApi) -> Self {
        let all = document.paths.paths.iter().flat_map(|(path, item)| {
            methods(item).into_iter().map(|(method, described)| Operation {
                template: path.split('/').map(str::to_owned).collect(),
                method,
                parameters: query_parameters(described),
            })
        });
        Self(all.collect())
    }

    /// The operation that takes this method at this path. A fixed path such as /v1/skills/import goes before a skill of
    /// that name.
    fn find(&self, method: &Method, path: &str) -> Option<&Operation> {
        let segments: Vec<&str> = path.split('/').collect();
        let fitting = self.0.iter().filter(|o| o.method == method.as_str() && fits(&o.template, &segments));
        fitting.max_by_key(|operation| fixed(&operation.template, &segments))
    }

    /// Whether the operation that the request calls knows a query parameter of that name.
    pub(super) fn knows(&self, request: &HttpRequest, parameter: &str) -> bool {
        let operation = self.find(request.method(), request.path());
        operation.is_some_and(|operation| operation.parameters.iter().any(|known| known == parameter))
    }

    /// Refuses a query parameter that the operation does not know: a mistyped one would be ignored, and the request do
    /// something else than what was asked for.
    fn check_query(&self, request: &HttpRequest) -> Result<(), Error> {
        let query = request.query_string();
        if query.is_empty() {
            return Ok(());
        }
        if !is_utf8(query) {
            return Err(Error::Malformed("the query is not UTF-8: percent-encode the bytes of UTF-8 text".into()));
        }
        let Some(operation) = self.find(request.method(), request.path()) else { return Ok(()) };
        let unknown = form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| !operation.parameters.iter().any(|known| known == name));
        let Some((name, _)) = unknown else { return Ok(()) };
        let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        let known = match operation.parameters.as_slice() {
            [] => "it takes none".to_owned(),
            parameters => format!("it takes {}", parameters.join(", ")),
        };
        Err(Error::Malformed(format!("this endpoint has no query parameter '{name}'; {known}")))
    }

    fn methods(&self, path: &str) -> Vec<&'static str> {
        let segments: Vec<&str> = path.split('/').collect();
        let fitting: Vec<&Operation> = self.0.iter().filter(|o| fits(&o.template, &segments)).collect();
        // A fixed path such as /v1/skills/import stands for itself, not for a skill of that name.
        let Some(most) = fitting.iter().map(|o| fixed(&o.template, &segments)).max() else { return Vec::new() };
        fitting.into_iter().filter(|o| fixed(&o.template, &segments) == most).map(|o| o.method).collect()
    }

    /// What a request that no endpoint takes is answered: 405 with the methods there are, or 404.
    pub fn answer_unmatched(&self, request: &HttpRequest) -> HttpResponse {
        let allowed = self.methods(request.path());
        if allowed.is_empty() {
            return ApiError::from(Error::not_found("endpoint; GET / says where the documents are")).error_response();
        }
        let status = StatusCode::METHOD_NOT_ALLOWED;
        metrics::refused("method-not-allowed");
        HttpResponse::build(status)
            .insert_header((header::ALLOW, allowed.join(", ")))
            .content_type("application/problem+json")
            .json(Problem {
                kind: "/problems/method-not-allowed".into(),
                title: "Method not allowed".into(),
                status: status.as_u16(),
                detail: format!("this takes {}", allowed.join(", ")),
                instance: format!("/requests/{}", crate::entry::current_request_id()),
                ..Problem::default()
            })
    }
}

/// Stands before every endpoint: what has a query parameter that it does not know is not carried out.
pub async fn refuse_unknown_parameters<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let operations = request.app_data::<Data<Operations>>();
    match operations.map_or(Ok(()), |operations| operations.check_query(request.request())) {
        Ok(()) => next.call(request).await.map(ServiceResponse::map_into_left_body),
        Err(error) => Ok(request.into_response(ApiError::from(error).error_response()).map_into_right_body()),
    }
}

/// Whether what the query's percent-encoding stands for is UTF-8. Other bytes would be read as question marks, and the request
/// be about something else.
fn is_utf8(query: &str) -> bool {
    percent_decode_str(query).decode_utf8().is_ok()
}

fn methods(item: &PathItem) -> Vec<(&'static str, &Described)> {
    let all = [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    all.into_iter().filter_map(|(name, operation)| Some((name, operation.as_ref()?))).collect()
}

fn query_parameters(operation: &Described) -> Vec<String> {
    let all = operation.parameters.iter().flatten();
    all.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => Some(parameter.name.clone()),
        _ => None,
    })
    .collect()
}

/// How many segments of a path the template names itself.
fn fixed(template: &[String], segments: &[&str]) -> usize {
    template.iter().zip(segments).filter(|(t, s)| t == s).count()
}

/// A template's last parameter takes the rest of the path where it is a resource's path.
fn fits(template: &[String], segments: &[&str]) -> bool {
    let rest = template.last().is_some_and(|last| last == "{path}");
    let long_enough = if rest { segments.len() >= template.len() } else { segments.len() == template.len() };
    long_enough && template.iter().zip(segments).all(|(t, s)| t == s || (t.starts_with('{') && !s.is_empty()))
}
