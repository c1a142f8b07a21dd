//! Texts that a person typed into a form. They are shown again if the form is not accepted, so that no text is lost.

use url::form_urlencoded;

/// The fields with typed text, with their names on the page.
const FIELDS: [(&str, &str); 10] = [
    ("text", "Text"),
    ("content", "Memory"),
    ("description", "Description"),
    ("summary", "Summary"),
    ("category", "Category"),
    ("tags", "Tags"),
    ("triggers", "Triggers"),
    ("see_also", "See also"),
    ("comment", "Comment"),
    ("reason", "Reason"),
];

/// A typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedText {
    /// Name of the field on the page.
    pub name: &'static str,
    pub text: String,
}

impl TypedText {
    /// Reads the typed texts of a form, without empty ones. Of a repeated field, only the first is read.
    pub fn of_form(body: &[u8]) -> Vec<Self> {
        let mut typed: Vec<Self> = Vec::new();
        for (field, text) in form_urlencoded::parse(body) {
            let known = FIELDS.iter().find(|(known, _)| *known == field);
            if let Some((_, name)) = known.filter(|(_, name)| typed.iter().all(|other| other.name != *name))
                && !text.trim().is_empty()
            {
                typed.push(Self { name, text: text.into_owned() });
            }
        }
        typed
    }
}

#[cfg(test)]
mod tests {
    use super::TypedText;

    #[test]
    fn only_typed_texts_are_read() {
        let body = b"form=abc&version=3&text=a%26b%0D%0Ac&comment=+&token=secret&tags=one&tags=two";
        let found: Vec<_> = TypedText::of_form(body).into_iter().map(|typed| (typed.name, typed.text)).collect();
        assert_eq!(found, [("Text", "a&b\r\nc".to_owned()), ("Tags", "one".to_owned())]);
    }
}
