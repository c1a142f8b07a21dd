//! Effect of expensive requests on a neighbour, without rate limits and with the sentence model.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Days};
use knowhow_domain::skills::index::BUDGET_STEPS;
use serde_json::json;

use super::neighbour::{Attack, Felt, LANES, Neighbour};
use super::recall::fill;
use crate::callers::{Caller, Sending, World, skill};
use crate::service::{Service, keeper, setting};
use crate::signing;
use crate::sql::execute;

/// Function that returns the request of a flood with this number.
type Flood = Box<dyn Fn(usize) -> Sending + Send + Sync>;

/// Runs each flood while a neighbour sends requests, and prints a line of a table for each flood.
/// `KNOWHOW_TEST_ATTACKS` selects floods by the beginning of their names.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn no_flood_slows_a_neighbour() {
    let folder = setting("KNOWHOW_TEST_MODEL_DIR");
    let settings: Vec<(&str, &str)> = folder.iter().map(|folder| ("KNOWHOW_MODEL_DIR", folder.as_str())).collect();
    let service = Service::start(&settings);
    let chosen = setting("KNOWHOW_TEST_ATTACKS").unwrap_or_default();
    let chosen: Vec<&str> = chosen.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    println!("| attack | p50 alone | p50 beside | p99 alone | p99 beside | ratio | requests | failed |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut missed = BTreeMap::new();
    for name in ATTACKS {
        if !chosen.is_empty() && !chosen.iter().any(|part| name.starts_with(part)) {
            continue;
        }
        let flood = flood(name, &service).await;
        if let Some(line) = hold(name, &service, flood).await {
            missed.insert(name, line);
        }
    }
    assert!(cfg!(debug_assertions) || missed.is_empty(), "{missed:#?}");
}

/// Runs a flood, and returns its line of the table if the neighbour was slowed too much or a request failed.
async fn hold(name: &str, service: &Service, flood: Flood) -> Option<String> {
    let neighbour = Neighbour::at(service).await;
    neighbour.live().await;
    let alone = neighbour.live().await;
    let attack = Attack::begin(flood);
    let beside = neighbour.live().await;
    let sent = tokio::task::spawn_blocking(|| attack.end()).await.unwrap();
    let ratio = beside.p99().as_secs_f64() / alone.p99().as_secs_f64();
    let ms = |felt: &Felt, of: fn(&Felt) -> std::time::Duration| of(felt).as_millis();
    let line = format!(
        "| {name} | {} | {} | {} | {} | x {ratio:.1} | {sent} | {} |",
        ms(&alone, Felt::p50),
        ms(&beside, Felt::p50),
        ms(&alone, Felt::p99),
        ms(&beside, Felt::p99),
        beside.failed.len()
    );
    println!("{line}");
    (!beside.failed.is_empty() || beside.is_slow_beside(&alone)).then_some(line)
}

const ATTACKS: [&str; 14] = [
    "large saves of 16 users",
    "readiness",
    "liveness",
    "tokens of random tenants",
    "malformed API keys",
    "random API keys",
    "tokens with a wrong signature",
    "analytics of 80,000 events",
    "lists of one user",
    "new messages of one user",
    "the API's document",
    "sessions with new budgets over 5,000 skills",
    "a graph of depth 2",
    "a tenant with 4,000 issuers",
];

/// Prepares the flood with this name.
async fn flood(name: &str, service: &Service) -> Flood {
    let settings = json!({"starter_skills": false, "bytes_per_user": 1_000_000_000});
    let world = World::at(service, keeper(), settings).await;
    let (alice, anonymous, slug) = (world.alice.clone(), world.anonymous.clone(), world.slug.clone());
    match name {
        "large saves of 16 users" => {
            let users: Vec<Caller> =
                (0..LANES).map(|n| world.scoped(&format!("saver-{n}"), "skills:read skills:write")).collect();
            let step = "Look at the calendar, name three times, and ask which of them suits.\n";
            let body = step.repeat(200_000 / step.len());
            Box::new(move |n| {
                let mut large = skill("large");
                large["content"] = json!(format!("# Large\n\nRound {n}.\n\n{body}"));
                users[n % LANES].post("/v1/skills", large)
            })
        }
        "readiness" => Box::new(move |_| anonymous.get("/readyz")),
        "liveness" => Box::new(move |_| anonymous.get("/healthz")),
        "tokens of random tenants" => Box::new(move |n| {
            let claims = signing::claims(&format!("nowhere-{n}"), "alice");
            anonymous
                .with_token(signing::hs256("a secret of more than 32 bytes, of no tenant", &claims))
                .get("/v1/skills")
        }),
        "malformed API keys" => Box::new(move |n| anonymous.with_token(format!("kh_{n}")).get("/v1/skills")),
        "random API keys" => Box::new(move |n| {
            let key = format!("kh_{:012x}_{}", n * 2_654_435_761 % (1 << 48), URL_SAFE_NO_PAD.encode([7; 32]));
            anonymous.with_token(key).get("/v1/skills")
        }),
        "tokens with a wrong signature" => Box::new(move |n| {
            let claims = signing::claims(&slug, &format!("alice-{n}"));
            anonymous
                .with_token(signing::hs256("a secret of more than 32 bytes, of no tenant", &claims))
                .get("/v1/skills")
        }),
        "analytics of 80,000 events" => {
            fill(&alice, 200, 20).await;
            use_often(&slug);
            let today = DateTime::from_timestamp(signing::now(), 0).unwrap().date_naive();
            Box::new(move |n| {
                let since = today - Days::new(300 - n as u64 % 200);
                alice.get(&format!("/v1/analytics/skills?since={since}"))
            })
        }
        "lists of one user" => {
            fill(&alice, 200, 20).await;
            Box::new(move |_| alice.get("/v1/skills"))
        }
        "new messages of one user" => {
            fill(&alice, 200, 20).await;
            Box::new(move |n| {
                let message =
                    format!("{n}: what is the way to schedule a meeting with everybody, and to tell them of it?");
                alice.post("/v1/skills/match", json!({"message": message}))
            })
        }
        "the API's document" => Box::new(move |_| anonymous.get("/openapi.json")),
        "sessions with new budgets over 5,000 skills" => {
            fill(&alice, 5_000, 20).await;
            Box::new(move |n| alice.post("/v1/sessions", json!({"index_budget": BUDGET_STEPS[n % BUDGET_STEPS.len()]})))
        }
        "a graph of depth 2" => {
            fill(&alice, 1_000, 20).await;
            Box::new(move |_| alice.get("/v1/graph?depth=2"))
        }
        "a tenant with 4,000 issuers" => {
            execute(&format!(
                "insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, sealed_secret, created_at)
                 select tenant_id, gen_random_uuid(), 'https://login-' || n || '.example', audience, algorithm, sealed_secret, now()
                 from issuers, generate_series(1, 4000) n
                 where tenant_id = (select tenant_id from tenants where slug = '{slug}')"
            ));
            alice.create(skill("p")).await;
            Box::new(move |_| alice.get("/v1/skills/p"))
        }
        other => panic!("there is no attack called {other}"),
    }
}

/// Stores 80,000 uses of a tenant's 200 skills over the last 57 days: one load of each skill a day, and six reported
/// uses with outcomes.
fn use_often(slug: &str) {
    execute(&format!(
        "insert into usage_events (tenant_id, user_id, skill_id, version, kind, day, at, use_digest, outcome, outcome_at)
         select s.tenant_id, s.user_id, s.skill_id, 1, k.kind, d.at::date, d.at, k.digest, k.outcome, d.at + k.later
         from skills s
         cross join (select (now() - make_interval(days => n)) at time zone 'UTC' at time zone 'UTC' as at
                     from generate_series(1, 57) n) d
         cross join (select 'view' as kind, ''::bytea as digest, null as outcome, null::interval as later
                     union all
                     select 'used', substr(sha256(n::text::bytea), 1, 16), 'success', make_interval(secs => n)
                     from generate_series(1, 6) n) k
         where s.tenant_id = (select tenant_id from tenants where slug = '{slug}')"
    ));
    execute("analyze usage_events");
}
