//! Callers with their credentials, and a new tenant for each test.

use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::service::{Service, keeper, operator_token, shared};
use crate::signing;
use crate::zone::zone_at;

/// A client with or without a credential.
#[derive(Clone)]
pub struct Caller {
    client: Client,
    url: String,
    /// The token in the header `Authorization`.
    pub token: Option<String>,
    user: Option<String>,
}

impl Caller {
    fn new(client: &Client, service: &Service, token: Option<String>) -> Self {
        Self { client: client.clone(), url: service.url.clone(), token, user: None }
    }

    /// Returns the address of the service.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns this caller for another process.
    pub fn at(&self, service: &Service) -> Self {
        self.at_url(&service.url)
    }

    /// Returns this caller for another address.
    pub fn at_url(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// Returns a caller of the same service with another token.
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), user: None, ..self.clone() }
    }

    /// Returns a caller of the same service without a credential.
    pub fn without_token(&self) -> Self {
        Self { token: None, user: None, ..self.clone() }
    }

    /// Returns this caller, an API key, acting for a user.
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

    /// Starts a request with any method.
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

    /// Creates a skill.
    pub async fn create(&self, skill: Value) -> Value {
        self.post("/v1/skills", skill).await.ok(201)
    }

    /// Creates simple skills with these names.
    pub async fn create_all(&self, names: &[&str]) {
        for name in names {
            self.create(skill(name)).await;
        }
    }

    /// Loads a skill without counting a use.
    pub async fn peek(&self, name: &str) -> Value {
        self.get(&format!("/v1/skills/{}?peek=true", name.replace('/', "%2F"))).await.ok(200)
    }

    /// Returns the names on the first page of skills.
    pub async fn names(&self) -> Vec<String> {
        crate::answers::pluck(&self.get("/v1/skills?limit=200").await.ok(200)["items"], "name")
    }

    /// Patches one passage of a skill.
    pub fn replace(&self, name: &str, old: &str, new: &str) -> Sending {
        let path = format!("/v1/skills/{}", name.replace('/', "%2F"));
        self.patch(&path, json!({"edits": [{"old_string": old, "new_string": new}]}))
    }
}

/// Returns a simple skill with this name.
pub fn skill(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Does {name}. Use when somebody asks for it."),
        "content": format!("# {name}\n\nFirst this, then that.\n"),
    })
}

/// A request that is sent when it is awaited.
pub struct Sending {
    asked: String,
    request: RequestBuilder,
}

impl Sending {
    /// Replaces the description of the request in failure messages.
    pub fn called(self, asked: String) -> Self {
        Self { asked, ..self }
    }

    pub fn header(self, name: &str, value: &str) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    pub fn json(self, body: &Value) -> Self {
        Self { request: self.request.json(body), ..self }
    }

    /// Sets a body and its media type.
    pub fn body(self, media_type: &str, body: impl Into<reqwest::Body>) -> Self {
        Self { request: self.request.header("Content-Type", media_type).body(body), ..self }
    }

    /// Sets a form with files.
    pub fn files(self, files: &[(&str, &[u8])]) -> Self {
        let mut form = reqwest::multipart::Form::new();
        for (name, bytes) in files {
            let part = reqwest::multipart::Part::bytes(bytes.to_vec()).file_name((*name).to_owned());
            form = form.part("file", part);
        }
        self.form(form)
    }

    /// Sets a multipart form as the body.
    pub fn form(self, form: reqwest::multipart::Form) -> Self {
        Self { request: self.request.multipart(form), ..self }
    }

    /// Sends the request and returns only the status, which may be that of an internal error.
    pub async fn status(self) -> u16 {
        self.request.send().await.unwrap_or_else(|error| panic!("{}: {error:?}", self.asked)).status().as_u16()
    }

    /// Sends the request. Returns `None` if there is no answer.
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

/// A new tenant and its callers.
pub struct World {
    /// The tenant's slug.
    pub slug: String,
    /// The secret of the tenant's HS256 issuer.
    pub secret: String,
    pub alice: Caller,
    /// Another user of the same tenant.
    pub bob: Caller,
    /// The tenant's admin.
    pub admin: Caller,
    /// Alice with only the scope `skills:read`.
    pub read_only: Caller,
    /// An operator, who manages all tenants.
    pub operator: Caller,
    pub anonymous: Caller,
}

impl World {
    /// Creates a tenant without starter skills.
    pub async fn new() -> Self {
        Self::with(json!({"starter_skills": false})).await
    }

    /// Creates a tenant without review, so that tainted skills take effect and are marked.
    pub async fn unreviewed() -> Self {
        Self::with(json!({"starter_skills": false, "review": "off"})).await
    }

    /// Returns Alice with an expired token.
    pub fn expired(&self) -> Caller {
        let mut claims = signing::claims(&self.slug, "alice");
        claims["exp"] = json!(1);
        self.anonymous.with_token(signing::hs256(&self.secret, &claims))
    }

    /// Creates a tenant with these settings.
    pub async fn with(settings: Value) -> Self {
        Self::at(shared(), keeper(), settings).await
    }

    /// Creates a tenant through `keeper`, with callers of `service`. If the settings name no time zone, it is noon
    /// there, so that tests cross no midnight and no nightly dream starts beside them.
    pub async fn at(service: &Service, keeper: &Service, mut settings: Value) -> Self {
        settings.as_object_mut().unwrap().entry("time_zone").or_insert_with(|| zone_at(12).into());
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            // Shorter than the time after which the service closes idle connections.
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

    /// Returns a user named alice in another tenant.
    pub async fn other_tenant(&self) -> Caller {
        let slug = format!("o-{}", uuid::Uuid::now_v7().simple());
        let secret = make_tenant(&self.operator.at(keeper()), &slug, json!({"starter_skills": false})).await;
        self.anonymous.with_token(signing::hs256(&secret, &signing::claims(&slug, "alice")))
    }

    /// Returns a user whose token has only these scopes.
    pub fn scoped(&self, user: &str, scopes: &str) -> Caller {
        let mut claims = signing::claims(&self.slug, user);
        claims.as_object_mut().unwrap().remove("roles");
        claims["scope"] = json!(scopes);
        self.anonymous.with_token(signing::hs256(&self.secret, &claims))
    }

    /// Returns a backend with an API key, acting for no user yet.
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

/// Creates a tenant with an HS256 issuer and returns the issuer's secret.
async fn make_tenant(operator: &Caller, slug: &str, settings: Value) -> String {
    operator.post("/v1/admin/tenants", json!({"slug": slug, "settings": settings})).await.ok(201);
    let secret = signing::random_secret();
    let issuer = json!({"iss": signing::issuer_of(slug), "algorithm": "HS256", "secret": secret});
    operator.post(&format!("/v1/admin/issuers?tenant={slug}"), issuer).await.ok(201);
    secret
}
