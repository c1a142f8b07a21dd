//! Who calls: typed callers, and a fresh tenant of them for every test.

use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::service::{Service, keeper, operator_token, shared};
use crate::signing;

/// Somebody with a credential, or without one.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    url: String,
    /// What goes into `Authorization: Bearer`.
    pub token: Option<String>,
    user: Option<String>,
}

impl Caller {
    fn new(client: &Client, service: &Service, token: Option<String>) -> Self {
        Self { client: client.clone(), url: service.url.clone(), token, user: None }
    }

    /// The same caller at another process.
    pub fn at(&self, service: &Service) -> Self {
        self.at_url(&service.url)
    }

    /// The same caller at another address.
    pub fn at_url(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// The same place with another credential.
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), user: None, ..self.clone() }
    }

    /// An API key's caller acting for a user.
    pub fn acting_for(&self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), ..self.clone() }
    }

    pub fn get(&self, path: &str) -> Sending {
        self.send(Method::GET, path)
    }

    pub fn post(&self, path: &str, body: Value) -> Sending {
        self.send(Method::POST, path).json(&body)
    }

    pub fn put(&self, path: &str, body: Value) -> Sending {
        self.send(Method::PUT, path).json(&body)
    }

    pub fn patch(&self, path: &str, body: Value) -> Sending {
        self.send(Method::PATCH, path).json(&body)
    }

    pub fn delete(&self, path: &str) -> Sending {
        self.send(Method::DELETE, path)
    }

    /// Any request.
    pub fn send(&self, method: Method, path: &str) -> Sending {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(user) = &self.user {
            request = request.header("Knowhow-User", user);
        }
        Sending { asked: format!("{method} {path}"), request }
    }

    /// Saves a skill that is new.
    pub async fn create(&self, skill: Value) -> Value {
        self.post("/v1/skills", skill).await.ok(201)
    }

    /// Saves plain skills of these names.
    pub async fn create_all(&self, names: &[&str]) {
        for name in names {
            self.create(skill(name)).await;
        }
    }

    /// A skill as it is, uncounted.
    pub async fn peek(&self, name: &str) -> Value {
        self.get(&format!("/v1/skills/{}?peek=true", name.replace('/', "%2F"))).await.ok(200)
    }

    /// The names of all skills on the first page.
    pub async fn names(&self) -> Vec<String> {
        crate::answers::pluck(&self.get("/v1/skills?limit=200").await.ok(200)["items"], "name")
    }

    /// Patches one passage.
    pub fn replace(&self, name: &str, old: &str, new: &str) -> Sending {
        let path = format!("/v1/skills/{}", name.replace('/', "%2F"));
        self.patch(&path, json!({"edits": [{"old_string": old, "new_string": new}]}))
    }
}

/// A plain skill of that name.
pub fn skill(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Does {name}. Use when somebody asks for it."),
        "content": format!("# {name}\n\nFirst this, then that.\n"),
    })
}

/// A request on its way; awaiting it sends it.
pub struct Sending {
    asked: String,
    request: RequestBuilder,
}

impl Sending {
    /// The same request under a name that says more than its path.
    pub fn called(self, asked: String) -> Self {
        Self { asked, ..self }
    }

    pub fn header(self, name: &str, value: &str) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    pub fn json(self, body: &Value) -> Self {
        Self { request: self.request.json(body), ..self }
    }

    /// A body of any kind.
    pub fn body(self, media_type: &str, body: impl Into<reqwest::Body>) -> Self {
        Self { request: self.request.header("Content-Type", media_type).body(body), ..self }
    }

    /// A form with files.
    pub fn files(self, files: &[(&str, &[u8])]) -> Self {
        let mut form = reqwest::multipart::Form::new();
        for (name, bytes) in files {
            let part = reqwest::multipart::Part::bytes(bytes.to_vec()).file_name((*name).to_owned());
            form = form.part("file", part);
        }
        self.form(form)
    }

    /// Any form.
    pub fn form(self, form: reqwest::multipart::Form) -> Self {
        Self { request: self.request.multipart(form), ..self }
    }

    /// The status alone, also of a fault.
    pub async fn status(self) -> u16 {
        self.request.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.asked)).status().as_u16()
    }

    /// The answer, or that there was none.
    pub async fn attempt(self) -> Option<Answer> {
        let response = self.request.send().await.ok()?;
        Some(Answer::of(self.asked, response).await)
    }
}

impl IntoFuture for Sending {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let response = self.request.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.asked));
            Answer::of(self.asked, response).await
        })
    }
}

/// A fresh tenant and those who call it.
pub struct World {
    /// The tenant's slug.
    pub slug: String,
    /// Secret of its HS256 issuer.
    pub secret: String,
    pub alice: Caller,
    /// Another user of the same tenant.
    pub bob: Caller,
    /// The tenant's admin.
    pub admin: Caller,
    /// Alice with the scope `skills:read` alone.
    pub read_only: Caller,
    /// Keeps all tenants.
    pub operator: Caller,
    pub anonymous: Caller,
}

impl World {
    /// A tenant whose users begin with nothing.
    pub async fn new() -> Self {
        Self::with(json!({"starter_skills": false})).await
    }

    /// A tenant where tainted skills are live and marked, and nothing waits.
    pub async fn unreviewed() -> Self {
        Self::with(json!({"starter_skills": false, "review": "off"})).await
    }

    /// Alice with a token that has run out.
    pub fn expired(&self) -> Caller {
        let mut claims = signing::claims(&self.slug, "alice");
        claims["exp"] = json!(1);
        self.anonymous.with_token(signing::hs256(&self.secret, &claims))
    }

    /// A tenant with these settings.
    pub async fn with(settings: Value) -> Self {
        Self::at(shared(), keeper(), settings).await
    }

    /// A tenant that `keeper` makes and `service` serves.
    pub async fn at(service: &Service, keeper: &Service, settings: Value) -> Self {
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            // Sooner than the service closes a connection that nobody uses.
            .pool_idle_timeout(Duration::from_secs(2))
            .build()
            .unwrap();
        let operator = Caller::new(&client, service, Some(operator_token().to_owned()));
        let slug = format!("t-{}", uuid::Uuid::now_v7().simple());
        let secret = make_tenant(&operator.at(keeper), &slug, settings).await;
        let anonymous = Caller::new(&client, service, None);
        let user = |sub: &str| anonymous.with_token(signing::hs256(&secret, &signing::claims(&slug, sub)));
        let with = |member: &str, value: Value| {
            let mut claims = signing::claims(&slug, if member == "scope" { "alice" } else { "anna-admin" });
            claims.as_object_mut().unwrap().remove("roles");
            claims[member] = value;
            anonymous.with_token(signing::hs256(&secret, &claims))
        };
        Self {
            alice: user("alice"),
            bob: user("bob"),
            admin: with("roles", json!(["tenant_admin"])),
            read_only: with("scope", json!("skills:read")),
            operator,
            anonymous,
            slug,
            secret,
        }
    }

    /// Alice's namesake in another tenant.
    pub async fn other_tenant(&self) -> Caller {
        let slug = format!("o-{}", uuid::Uuid::now_v7().simple());
        let secret = make_tenant(&self.operator.at(keeper()), &slug, json!({"starter_skills": false})).await;
        self.anonymous.with_token(signing::hs256(&secret, &signing::claims(&slug, "alice")))
    }

    /// A user with a token of these scopes alone.
    pub fn scoped(&self, user: &str, scopes: &str) -> Caller {
        let mut claims = signing::claims(&self.slug, user);
        claims.as_object_mut().unwrap().remove("roles");
        claims["scope"] = json!(scopes);
        self.anonymous.with_token(signing::hs256(&self.secret, &claims))
    }

    /// A backend with an API key, acting for nobody yet.
    pub async fn backend(&self) -> Caller {
        let body = json!({"name": "backend", "scopes": ["skills:read", "skills:write"]});
        let key = self.admin.post("/v1/admin/keys", body).await.ok(201);
        self.anonymous.with_token(key["secret"].as_str().unwrap())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        shared().check_log();
        keeper().check_log();
    }
}

/// A tenant with an HS256 issuer; the issuer's secret.
async fn make_tenant(operator: &Caller, slug: &str, settings: Value) -> String {
    operator.post("/v1/admin/tenants", json!({"slug": slug, "settings": settings})).await.ok(201);
    let secret = signing::random_secret();
    let issuer = json!({"iss": signing::issuer_of(slug), "algorithm": "HS256", "secret": secret});
    operator.post(&format!("/v1/admin/issuers?tenant={slug}"), issuer).await.ok(201);
    secret
}
