//! Requests that no endpoint takes: 405 with the methods there are, or 404.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use knowhow_domain::Error;
use utoipa::openapi::OpenApi;

use super::{ApiError, Problem};

/// Methods by path template, from the document that describes the endpoints.
pub(super) struct Routes(Vec<(Vec<String>, Vec<&'static str>)>);

impl Routes {
    pub(super) fn of(document: &OpenApi) -> Self {
        Self(
            document
                .paths
                .paths
                .iter()
                .map(|(path, item)| {
                    let methods = [
                        ("GET", item.get.is_some()),
                        ("POST", item.post.is_some()),
                        ("PUT", item.put.is_some()),
                        ("PATCH", item.patch.is_some()),
                        ("DELETE", item.delete.is_some()),
                    ];
                    let allowed = methods.into_iter().filter_map(|(name, there)| there.then_some(name)).collect();
                    (path.split('/').map(str::to_owned).collect(), allowed)
                })
                .collect(),
        )
    }

    fn allowed(&self, path: &str) -> Vec<&'static str> {
        let segments: Vec<&str> = path.split('/').collect();
        // A fixed path such as /v1/skills/import stands for itself, not for a skill of that name.
        let fixed = |template: &[String]| template.iter().zip(&segments).filter(|(t, s)| t == s).count();
        let fitting = self.0.iter().filter(|(template, _)| fits(template, &segments));
        fitting.max_by_key(|(template, _)| fixed(template)).map(|(_, methods)| methods.clone()).unwrap_or_default()
    }

    pub(super) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let allowed = self.allowed(request.path());
        if allowed.is_empty() {
            return ApiError::from(Error::not_found("endpoint; GET / says where the documents are")).error_response();
        }
        let status = StatusCode::METHOD_NOT_ALLOWED;
        HttpResponse::build(status)
            .insert_header((header::ALLOW, allowed.join(", ")))
            .content_type("application/problem+json")
            .json(Problem {
                kind: "/problems/method-not-allowed".into(),
                title: "Method not allowed".into(),
                status: status.as_u16(),
                detail: format!("this takes {}", allowed.join(", ")),
                instance: format!("/requests/{}", super::request_id::current()),
                ..Problem::default()
            })
    }
}

/// A template's last parameter takes the rest of the path where it is a resource's path.
fn fits(template: &[String], segments: &[&str]) -> bool {
    let rest = template.last().is_some_and(|last| last == "{path}");
    let long_enough = if rest { segments.len() >= template.len() } else { segments.len() == template.len() };
    long_enough && template.iter().zip(segments).all(|(t, s)| t == s || (t.starts_with('{') && !s.is_empty()))
}
