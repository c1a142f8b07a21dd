//! The login form, also as the answer to a form that was sent after its session had ended.

use askama::Template;

use crate::origin::UnsafeAddress;
use crate::shown::{Block, Line};
use crate::typed::TypedText;

/// The login form, or the reason why no login is possible at this address.
#[derive(Template)]
#[template(path = "login.html")]
pub struct LoginPage {
    pub next: String,
    pub user: Line,
    pub error: Option<Block>,
    /// The reason why no login is possible at this address.
    pub refusal: Option<UnsafeAddress>,
    /// True if a form was sent after its session had ended.
    pub is_after_form: bool,
    /// The texts of that form.
    pub typed: Vec<TypedText>,
}

impl LoginPage {
    /// Creates the login form. It leads to `next`.
    pub fn leading_to(next: &str) -> Self {
        Self {
            next: next.to_owned(),
            user: Line::default(),
            error: None,
            refusal: None,
            is_after_form: false,
            typed: Vec::new(),
        }
    }
}

/// Renders the login form after a form that was sent without a session, with the texts of that form.
///
/// # Errors
/// The error of the template.
pub fn render_for_form(next: &str, typed: &[TypedText]) -> askama::Result<String> {
    LoginPage { is_after_form: true, typed: typed.to_vec(), ..LoginPage::leading_to(next) }.render()
}
