//! Describes error responses in the OpenAPI document. Each status that operations name has a shared response, and all
//! other errors share one more. The same code renders the examples and answers requests.

use std::collections::BTreeMap;

use knowhow_domain::{Error, FieldError, Passage};
use serde_json::Value;
use utoipa::IntoResponses;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{
    Components, ContentBuilder, Header, HeaderBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, Schema,
};

use super::ApiError;

/// Errors that any endpoint may return.
pub struct CallerProblems;
/// Errors from endpoints that read one item.
pub struct ReadProblems;
/// Errors from endpoints that write.
pub struct WriteProblems;
/// Errors from endpoints that change a skill. Such a change may also be queued for review.
pub struct ChangeProblems;

const NOT_FOUND: (&str, &str) = ("404", "NotFound");
const CONFLICT: (&str, &str) = ("409", "Conflict");
const INVALID: (&str, &str) = ("422", "Invalid");
const REFUSED: (&str, &str) = ("default", "Refused");

pub const MALFORMED: (&str, &str) = ("400", "Malformed");
/// The error from operations with `If-Match`.
pub const PRECONDITION_FAILED: (&str, &str) = ("412", "PreconditionFailed");

impl IntoResponses for CallerProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        refer(&[REFUSED])
    }
}

impl IntoResponses for ReadProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        refer(&[NOT_FOUND, REFUSED])
    }
}

impl IntoResponses for WriteProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        refer(&[NOT_FOUND, CONFLICT, INVALID, REFUSED])
    }
}

impl IntoResponses for ChangeProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Submission"))).build();
        let waits = ResponseBuilder::new()
            .description("Not applied yet: the change awaits review as a submission")
            .content("application/json", content)
            .build();
        let mut answers = WriteProblems::responses();
        answers.insert("202".into(), waits.into());
        answers
    }
}

fn refer(answers: &[(&str, &str)]) -> BTreeMap<String, RefOr<Response>> {
    answers.iter().map(|(status, name)| ((*status).to_owned(), Ref::from_response_name(*name).into())).collect()
}

/// Adds the shared responses to the components of the document.
pub fn add_to(components: &mut Components) {
    for (name, description, errors) in shared_responses() {
        let mut answer = answer(name, description, errors);
        if name == REFUSED.1 {
            answer.headers = headers();
        }
        components.responses.insert(name.to_owned(), answer.into());
    }
}

/// Returns the shared responses. Each has a name, a description and example errors.
fn shared_responses() -> [(&'static str, &'static str, Vec<Error>); 6] {
    let skill = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    [
        (
            MALFORMED.1,
            "Malformed request",
            vec![Error::Malformed(
                "this endpoint has no query parameter 'tennant'; it accepts limit, cursor, tenant".into(),
            )],
        ),
        (
            NOT_FOUND.1,
            "The caller has no such item",
            vec![Error::NotFound { what: "skill", candidates: skill(&["plan-meeting"]) }],
        ),
        (
            CONFLICT.1,
            "The current state of the item does not allow the request",
            vec![
                Error::VersionConflict { current_version: 3 },
                Error::Conflict { code: "name-taken", detail: "there is a skill 'plan-meeting' already".into() },
                Error::AmbiguousName { candidates: skill(&["mcp/email", "work/email"]) },
            ],
        ),
        (
            PRECONDITION_FAILED.1,
            "The version in `If-Match` is not the current one",
            vec![Error::VersionConflict { current_version: 3 }],
        ),
        (
            INVALID.1,
            "The request is readable but invalid",
            vec![
                Error::Invalid(vec![FieldError::new("/max_turns", "must be a whole number of at least 0, is -1")]),
                Error::PatchNoMatch {
                    edit: 0,
                    closest: vec![Passage { line: 12, text: "Find free slots.".into() }],
                    difference: None,
                },
                Error::IdempotencyMismatch,
            ],
        ),
        (
            REFUSED.1,
            "Any other error: missing or wrong credential (401); missing scope or role, or suspended tenant or user \
             (403); too large (413); unsupported media type (415); quota or rate limit (429); database unavailable \
             (503)",
            other_errors(),
        ),
    ]
}

/// Returns example errors for the statuses that have no response of their own.
fn other_errors() -> Vec<Error> {
    vec![
        Error::Unauthenticated("send Authorization: Bearer with a JWT or an API key".into()),
        Error::Forbidden("skills:write"),
        Error::Suspended { what: "tenant", reason: "the invoice of May is open".into() },
        Error::TooLarge { what: "the request body".into(), limit: 2_097_152 },
        Error::UnsupportedMediaType("send application/json".into()),
        Error::Quota("the user has 10000 skills, the tenant's limit; delete one first".into()),
        Error::RateLimited {
            detail: "100 wrong credentials within a minute; wait, then send a valid one".into(),
            retry_after: 60,
        },
        Error::Unavailable("the database is unreachable; try again in a moment".into()),
    ]
}

/// Returns the headers about rate limits. Successful responses have the `RateLimit-*` headers too.
fn headers() -> BTreeMap<String, RefOr<Header>> {
    let header = |kind: Type, description: &str| {
        let schema: Schema = ObjectBuilder::new().schema_type(kind).build().into();
        RefOr::T(HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build())
    };
    let all = [
        ("Retry-After", Type::Integer, "With 429 and 503: seconds until a retry can succeed"),
        (
            "RateLimit-Limit",
            Type::Integer,
            "Burst size of the tightest limit: that of the user, the API key or the tenant",
        ),
        ("RateLimit-Remaining", Type::Integer, "Remaining requests of that limit"),
        ("RateLimit-Reset", Type::Integer, "Seconds until all requests of that limit are available again"),
        ("RateLimit-Policy", Type::String, "The tightest limit as requests per seconds, e.g. `60;w=3`"),
    ];
    all.into_iter().map(|(name, kind, description)| (name.to_owned(), header(kind, description))).collect()
}

fn answer(name: &str, description: &str, errors: Vec<Error>) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
    let examples = errors.into_iter().map(|error| {
        let (code, problem) = (error.code().to_owned(), example(name, error));
        (code, ExampleBuilder::new().value(Some(problem)).build())
    });
    ResponseBuilder::new()
        .description(description)
        .content("application/problem+json", content.examples_from_iter(examples).build())
        .build()
}

/// Renders an example error in the same way as for a request.
fn example(name: &str, error: Error) -> Value {
    let error = ApiError::under((name == PRECONDITION_FAILED.1).then_some(0))(error);
    serde_json::to_value(error.problem("0192f0c1-7b1e-7c3a-9d53-0e2f6a1b4c5d")).unwrap_or_default()
}
