//! Issuers with published keys: rotation, algorithm confusion, and endpoints that hang.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use futures_util::future::join;
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, World};
use crate::service::{keeper, poll_async, run};
use crate::signing::{self, encode, signed};

/// A fake endpoint at which an issuer publishes its keys.
struct Endpoint {
    url: String,
    document: Arc<Mutex<String>>,
    fetches: Arc<AtomicUsize>,
    hangs: Arc<AtomicBool>,
}

impl Endpoint {
    fn start(document: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Self {
            url: format!("http://{}/keys", listener.local_addr().unwrap()),
            document: Arc::new(Mutex::new(document.to_string())),
            fetches: Arc::default(),
            hangs: Arc::default(),
        };
        let (document, fetches, hangs) = (endpoint.document.clone(), endpoint.fetches.clone(), endpoint.hangs.clone());
        std::thread::spawn(move || {
            let mut held: Vec<TcpStream> = Vec::new();
            for mut stream in listener.incoming().flatten() {
                fetches.fetch_add(1, Ordering::SeqCst);
                if hangs.load(Ordering::SeqCst) {
                    held.push(stream);
                    continue;
                }
                let _ = stream.read(&mut [0; 4096]);
                let body = document.lock().unwrap().clone();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        endpoint
    }

    fn publish(&self, document: &Value) {
        *self.document.lock().unwrap() = document.to_string();
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

/// A key pair on P-256.
struct Key {
    kid: &'static str,
    pair: EcdsaKeyPair,
}

impl Key {
    fn new(kid: &'static str) -> Self {
        Self { kid, pair: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap() }
    }

    fn point(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    fn jwk(&self) -> Value {
        let (x, y) = self.point()[1..].split_at(32);
        json!({"kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "x": encode(x), "y": encode(y)})
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", encode(signature))
    }

    fn es256(&self, claims: &Value) -> String {
        self.token(&json!({"alg": "ES256", "kid": self.kid}), claims)
    }
}

const ISS: &str = "https://keys.example";

fn claims(world: &World) -> Value {
    let mut claims = signing::claims(&world.slug, "alice");
    claims["iss"] = json!(ISS);
    claims
}

async fn register(world: &World, url: &str) {
    let issuer = json!({"iss": ISS, "algorithm": "ES256", "jwks_url": url});
    world.admin.post("/v1/admin/issuers", issuer).await.ok(201);
}

async fn accepted(caller: &Caller) {
    poll_async("the issuer to count", async || (caller.get("/v1/skills").await.status == 200).then_some(())).await;
}

#[tokio::test]
async fn published_keys_are_found_and_rotated_and_forgeries_refused() {
    let world = World::new().await;
    let (first, second) = (Key::new("first"), Key::new("second"));
    let endpoint = Endpoint::start(&json!({"keys": [first.jwk()]}));
    register(&world, &endpoint.url).await;
    let claims = claims(&world);
    accepted(&world.anonymous.with_token(first.es256(&claims))).await;
    assert_eq!(endpoint.fetches(), 1);
    let refuse = async |token: String| {
        world.anonymous.with_token(token).get("/v1/skills").await.refused(401, "unauthenticated");
    };
    refuse(first.token(&json!({"alg": "none", "kid": "first"}), &claims)).await;
    refuse(first.token(&json!({"alg": "RS256", "kid": "first"}), &claims)).await;
    let published = endpoint.document.lock().unwrap().clone();
    for secret in [published, first.jwk().to_string(), first.jwk()["x"].as_str().unwrap().to_owned(), String::new()] {
        refuse(signed(&secret, &json!({"alg": "HS256", "kid": "first"}), &claims)).await;
        refuse(signed(&secret, &json!({"alg": "ES256", "kid": "first"}), &claims)).await;
    }
    refuse(Key::new("first").es256(&claims)).await;
    endpoint.publish(&json!({"keys": [second.jwk()]}));
    world.anonymous.with_token(second.es256(&claims)).get("/v1/skills").await.ok(200);
    assert_eq!(endpoint.fetches(), 2);
    for kid in ["first", "third", "../second", "second\u{0}", ""] {
        refuse(second.token(&json!({"alg": "ES256", "kid": kid}), &claims)).await;
    }
    assert_eq!(endpoint.fetches(), 2, "an unknown kid asks at most once in 30 seconds");
    world.anonymous.with_token(second.token(&json!({"alg": "ES256"}), &claims)).get("/v1/skills").await.ok(200);
}

/// Returns the parts of an answer that do not depend on the request.
fn told(answer: &Answer) -> (u16, Vec<String>, Value) {
    let mut problem = answer.refused(401, "unauthenticated");
    problem["instance"] = Value::Null;
    let mut names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
    names.sort();
    (answer.status, names, problem)
}

#[tokio::test]
async fn an_endpoint_that_hangs_does_not_delay_other_callers() {
    let world = World::new().await;
    let key = Key::new("k");
    let endpoint = Endpoint::start(&json!({}));
    endpoint.hangs.store(true, Ordering::SeqCst);
    register(&world, &endpoint.url).await;
    let caller = world.anonymous.with_token(key.es256(&claims(&world)));
    let stuck = poll_async("the issuer to be asked", async || {
        let answer = caller.get("/v1/skills").await;
        (endpoint.fetches() > 0).then_some(answer)
    });
    let others = async {
        while endpoint.fetches() == 0 {
            world.alice.get("/v1/skills").await.ok(200);
        }
        for _ in 0..20 {
            world.alice.get("/v1/skills").await.ok(200);
        }
    };
    let (stuck, ()) = join(stuck, others).await;
    stuck.refused(401, "unauthenticated");
    let again = caller.get("/v1/skills").await;
    assert_eq!(endpoint.fetches(), 1, "a failed endpoint is left alone for a while");
    let doctor = run(&["doctor"]);
    let said = String::from_utf8(doctor.stdout).unwrap();
    let line = format!(
        "the keys of the issuer '{ISS}' of the tenant '{}' cannot be fetched from {}",
        world.slug, endpoint.url
    );
    assert!(said.lines().any(|told| told.contains(&line) && told.contains("no answer within 5 s")), "{said}");
    // A caller who cannot sign does not learn whether the issuer or the tenant exists.
    for (member, unknown) in [("iss", "https://nobody.example"), ("tid", "no-such-tenant")] {
        let mut claims = claims(&world);
        claims[member] = json!(unknown);
        let other = world.anonymous.with_token(key.es256(&claims)).get("/v1/skills").await;
        assert_eq!(told(&again), told(&other), "{member}");
    }
}

#[tokio::test]
async fn malformed_key_documents_accept_no_token() {
    let world = World::new().await;
    let key = Key::new("k");
    let endpoint =
        Endpoint::start(&json!({"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "k"}, 7, {}]}));
    register(&world, &endpoint.url).await;
    let caller = world.anonymous.with_token(key.es256(&claims(&world)));
    poll_async("the document to be read", async || {
        let answer = caller.get("/v1/skills").await;
        answer.refused(401, "unauthenticated");
        (endpoint.fetches() > 0).then_some(())
    })
    .await;
    caller.get("/v1/skills").await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn a_public_service_accepts_no_private_endpoint() {
    let world = World::new().await;
    let admin = world.admin.at(keeper());
    for url in [
        "http://id.example.com/keys",
        "https://127.0.0.1/keys",
        "https://localhost/keys",
        "https://[::1]/keys",
        "https://[::ffff:10.0.0.1]/keys",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://metadata.google.internal/",
        "https://id.example.com:22/",
        "https://db/",
        r"https://idp.example\@127.0.0.1/",
        "https://id.example.com/a key",
        "https://[64:ff9b::7f00:1]/",
        "file:///etc/passwd",
    ] {
        let issuer = json!({"iss": ISS, "algorithm": "ES256", "jwks_url": url});
        admin.post("/v1/admin/issuers", issuer).await.invalid("/jwks_url", "must ");
    }
}
