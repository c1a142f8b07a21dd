//! A browser without JavaScript: a cookie, pages, and forms with the token of the page.

use reqwest::Method;

use crate::answers::Answer;
use crate::callers::Caller;

/// A person with a session.
pub struct Visitor {
    client: Caller,
    /// The cookie as the browser sends it.
    pub cookie: String,
}

/// Encodes the fields of a form.
pub fn encode(fields: &[(&str, &str)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

/// Sends the login form without a session.
pub async fn send_login(client: &Caller, fields: &[(&str, &str)]) -> Answer {
    let sent = client.without_token().send(Method::POST, "/console/login").header("Sec-Fetch-Site", "same-origin");
    sent.body("application/x-www-form-urlencoded", encode(fields)).await
}

impl Visitor {
    /// Logs in with the caller's token.
    pub async fn of(caller: &Caller) -> Self {
        Self::with(caller, &[("token", caller.token.as_deref().unwrap())]).await
    }

    /// Logs in with these fields.
    pub async fn with(caller: &Caller, fields: &[(&str, &str)]) -> Self {
        let answer = send_login(caller, fields).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/console"), "{answer}");
        let set = answer.header("set-cookie");
        let cookie = set.split(';').next().unwrap().to_owned();
        Self { client: caller.without_token(), cookie }
    }

    /// Requests a page, with any status.
    pub async fn get(&self, path: &str) -> Answer {
        self.client.get(path).header("Cookie", &self.cookie).await
    }

    /// Requests a page and returns its HTML.
    #[track_caller]
    pub fn page(&self, path: &str) -> impl Future<Output = String> {
        let path = path.to_owned();
        async move {
            let answer = self.get(&path).await;
            assert_eq!(answer.status, 200, "{answer}");
            assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{answer}");
            answer.text()
        }
    }

    /// Returns the token of the session's forms.
    pub async fn form_token(&self) -> String {
        let page = self.page("/console").await;
        let (_, rest) = page.split_once(r#"name="form" value=""#).unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// Gives an admin's reason to see the changes of all users.
    pub async fn give_reason(&self, reason: &str) {
        let answer = self.post("/console/review/reason", &[("reason", reason), ("next", "/console/review")]).await;
        let location = answer.header("location");
        assert_eq!((answer.status, location), (303, "/console/review?done=reason-given"), "{answer}");
    }

    /// Sends a form of a page.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.form_token().await;
        let fields: Vec<_> = [("form", token.as_str())].iter().chain(fields).copied().collect();
        self.post_with(path, &fields, &[("Sec-Fetch-Site", "same-origin")]).await
    }

    /// Sends a form with exactly these fields and headers.
    pub async fn post_with(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let mut sent = self.client.send(Method::POST, path).header("Cookie", &self.cookie);
        for (name, value) in headers {
            sent = sent.header(name, value);
        }
        sent.body("application/x-www-form-urlencoded", encode(fields)).await
    }
}

/// Returns the value of a hidden field, as a browser would send it.
pub fn hidden(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!(r#"name="{name}" value=""#)).unwrap_or_else(|| panic!("{name}: {page}"));
    let value = rest.split('"').next().unwrap();
    value.replace("&#34;", "\"").replace("&#60;", "<").replace("&#62;", ">").replace("&#39;", "'").replace("&#38;", "&")
}

/// Returns the content of a text area.
pub fn area(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!(r#"name="{name}""#)).unwrap_or_else(|| panic!("{name}: {page}"));
    let (_, rest) = rest.split_once(">\n").unwrap();
    rest.split("</textarea>").next().unwrap().to_owned()
}
