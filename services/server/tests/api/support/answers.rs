//! Answers of the service, and assertions about them.

use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// A complete answer.
#[derive(Debug)]
pub struct Answer {
    /// Method and path of the request, or a description of it.
    pub asked: String,
    /// The HTTP status.
    pub status: u16,
    /// The response headers.
    pub headers: HeaderMap,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// Internal words that no answer may contain.
const INSIDE: [&str; 12] = [
    "select ",
    "insert ",
    "postgres",
    "sqlx",
    "constraint",
    "relation \\\"",
    "knowhow_tenant",
    "row-level",
    "tokio",
    "panicked",
    "/src/",
    "stack backtrace",
];

impl Answer {
    pub(crate) async fn of(asked: String, response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.unwrap().to_vec();
        let answer = Self { asked, status, headers, body };
        assert!(status < 500 || status == 503, "{answer}");
        answer.header("x-request-id");
        answer
    }

    /// Asserts success with this status and returns the JSON body.
    #[track_caller]
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        assert_eq!(self.header("content-type"), "application/json", "{self}");
        self.json()
    }

    /// Asserts success with this status and an empty body.
    #[track_caller]
    pub fn empty(&self, status: u16) {
        assert_eq!(self.status, status, "{self}");
        assert!(self.body.is_empty(), "{self}");
    }

    /// Asserts a complete problem of this status and type, and returns it.
    #[track_caller]
    pub fn refused(&self, status: u16, kind: &str) -> Value {
        assert_eq!(self.status, status, "{self}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{self}");
        let problem = self.json();
        assert_eq!(problem["type"], format!("/problems/{kind}"), "{self}");
        assert_eq!(problem["status"], status, "{self}");
        assert_eq!(problem["instance"], format!("/requests/{}", self.header("x-request-id")), "{self}");
        for member in ["title", "detail"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{self}");
        }
        self.tells_nothing();
        problem
    }

    /// Asserts that the body contains no internal words.
    #[track_caller]
    pub fn tells_nothing(&self) {
        let said = self.text().to_lowercase();
        assert!(!INSIDE.iter().any(|word| said.contains(word)), "tells of the inside: {self}");
    }

    /// Asserts an invalid request with an error at `pointer` whose text contains `words`.
    #[track_caller]
    pub fn invalid(&self, pointer: &str, words: &str) {
        let problem = self.refused(422, "invalid");
        let fits = |e: &Value| e["pointer"] == pointer && e["detail"].as_str().is_some_and(|d| d.contains(words));
        assert!(problem["errors"].as_array().is_some_and(|errors| errors.iter().any(fits)), "{words}: {self}");
    }

    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns a header that must occur exactly once.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let all: Vec<_> = self.headers.get_all(name).iter().collect();
        assert_eq!(all.len(), 1, "{name}: {self}");
        all[0].to_str().unwrap()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: String = self.text().chars().take(2000).collect();
        write!(f, "{} answered {} {text}", self.asked, self.status)
    }
}

/// Returns the values of one member of each item.
pub fn pluck(list: &Value, member: &str) -> Vec<String> {
    let text = |item: &Value| item[member].as_str().map_or_else(|| item[member].to_string(), str::to_owned);
    list.as_array().unwrap().iter().map(text).collect()
}

/// Returns the member names of an object, sorted.
pub fn members(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
