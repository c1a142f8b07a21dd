//! Refusals in the document: one shared answer for each status that an operation names, and one for all the others. Their
//! examples are made by the code that answers.

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

/// What any endpoint may answer.
pub struct CallerProblems;
/// What reading one thing may answer.
pub struct ReadProblems;
/// What writing may answer.
pub struct WriteProblems;
/// What a change of a skill may answer: it may also wait for a person.
pub struct ChangeProblems;

const NOT_FOUND: (&str, &str) = ("404", "NotFound");
const CONFLICT: (&str, &str) = ("409", "Conflict");
const INVALID: (&str, &str) = ("422", "Invalid");
const REFUSED: (&str, &str) = ("default", "Refused");

pub const MALFORMED: (&str, &str) = ("400", "Malformed");
/// Of an operation with `If-Match`.
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
            .description("Nothing is changed yet: the change waits for a person, as a submission")
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

/// The shared answers that operations refer to.
pub fn add_to(components: &mut Components) {
    let skill = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let answers = [
        (
            MALFORMED.1,
            "The request cannot be read",
            vec![Error::Malformed(
                "this endpoint has no query parameter 'tennant'; it takes limit, cursor, tenant".into(),
            )],
        ),
        (
            NOT_FOUND.1,
            "No such thing of the caller's",
            vec![Error::NotFound { what: "skill", candidates: skill(&["plan-meeting"]) }],
        ),
        (
            CONFLICT.1,
            "The state of the thing forbids it",
            vec![
                Error::VersionConflict { current_version: 3 },
                Error::Conflict { code: "name-taken", detail: "there is a skill 'plan-meeting' already".into() },
                Error::AmbiguousName { candidates: skill(&["mcp/email", "work/email"]) },
            ],
        ),
        (
            PRECONDITION_FAILED.1,
            "`If-Match` names another version than the current one",
            vec![Error::VersionConflict { current_version: 3 }],
        ),
        (
            INVALID.1,
            "Readable, but against the rules",
            vec![
                Error::Invalid(vec![FieldError::new("/max_turns", "must be a whole number of at least 0, is -1")]),
                Error::PatchNoMatch { edit: 0, closest: vec![Passage { line: 12, text: "Find free slots.".into() }] },
                Error::IdempotencyMismatch,
            ],
        ),
        (
            REFUSED.1,
            "Any other refusal: no good credential (401), one that lacks a scope or role, or whose tenant or user is suspended (403), too large (413), \
            a media type that is not taken (415), a quota or too many requests (429), the database out of reach (503)",
            vec![
                Error::Unauthenticated("send Authorization: Bearer with a JWT or an API key".into()),
                Error::Forbidden("skills:write"),
                Error::Suspended { what: "tenant", reason: "the invoice of May is open".into() },
                Error::TooLarge { what: "the request body".into(), limit: 2_097_152 },
                Error::UnsupportedMediaType("send application/json".into()),
                Error::Quota("the user keeps 10000 skills, as many as the tenant allows; delete one first".into()),
                Error::RateLimited {
                    detail: "100 wrong credentials within a minute; wait, then send a right one".into(),
                    retry_after: 60,
                },
                Error::Unavailable("the database is out of reach; try again in a moment".into()),
            ],
        ),
    ];
    for (name, description, errors) in answers {
        let mut answer = answer(name, description, errors);
        if name == REFUSED.1 {
            answer.headers = headers();
        }
        components.responses.insert(name.to_owned(), answer.into());
    }
}

/// What a refusal for too many requests, or for want of something, says of the time; `RateLimit-*` are on ordinary answers too.
fn headers() -> BTreeMap<String, RefOr<Header>> {
    let header = |kind: Type, description: &str| {
        let schema: Schema = ObjectBuilder::new().schema_type(kind).build().into();
        RefOr::T(HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build())
    };
    let all = [
        ("Retry-After", Type::Integer, "With 429 and 503: whole seconds until another try can succeed"),
        (
            "RateLimit-Limit",
            Type::Integer,
            "Requests that the caller may send at once: of the user, the API key or the tenant, whichever is nearest",
        ),
        ("RateLimit-Remaining", Type::Integer, "What is left of them"),
        ("RateLimit-Reset", Type::Integer, "Whole seconds until all of them are there again"),
        ("RateLimit-Policy", Type::String, "The nearest limit as requests in so many seconds, e.g. `60;w=3`"),
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

/// The very answer that the error has.
fn example(name: &str, error: Error) -> Value {
    let error = ApiError::under((name == PRECONDITION_FAILED.1).then_some(0))(error);
    serde_json::to_value(error.problem("0192f0c1-7b1e-7c3a-9d53-0e2f6a1b4c5d")).unwrap_or_default()
}
