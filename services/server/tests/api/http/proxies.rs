//! Clients behind a proxy: identified by the address that a trusted proxy reports, never by one that the client made
//! up.

use serde_json::json;

use crate::callers::{Caller, Sending, World, skill};
use crate::service::Service;

/// Starts a service that trusts these proxies and accepts five wrong credentials a minute from each address.
fn behind_a_proxy(trusted: &str) -> Service {
    Service::start(&[("KNOWHOW_WRONG_CREDENTIALS_PER_MINUTE", "5"), ("KNOWHOW_TRUSTED_PROXIES", trusted)])
}

fn from(caller: &Caller, addresses: &str) -> Sending {
    caller.get("/v1/skills").header("X-Forwarded-For", addresses)
}

#[tokio::test]
async fn a_guessing_client_behind_a_proxy_is_limited_and_others_are_not() {
    let world = World::new().await;
    let service = behind_a_proxy("127.0.0.0/8, ::1, 10.1.0.0/16");
    let wrong = world.anonymous.with_token("x.y.z").at(&service);
    for _ in 0..5 {
        from(&wrong, "203.0.113.7").await.refused(401, "unauthenticated");
    }
    from(&wrong, "203.0.113.7").await.refused(429, "rate-limited");
    from(&wrong, "203.0.113.8").await.refused(401, "unauthenticated");
    from(&wrong, "203.0.113.7, 10.1.2.3").await.refused(429, "rate-limited");
    for forged in ["198.51.100.1, 203.0.113.7", "127.0.0.1, 203.0.113.7:4711", "nobody, 203.0.113.7, 10.1.9.9"] {
        from(&wrong, forged).await.refused(429, "rate-limited");
    }
    from(&wrong, "203.0.113.7, 10.2.0.1").await.refused(401, "unauthenticated");
    // A client without an address in the header counts as the proxy.
    for _ in 0..5 {
        from(&wrong, "unknown").await.refused(401, "unauthenticated");
    }
    wrong.get("/v1/skills").await.refused(429, "rate-limited");
    from(&world.alice.at(&service), "203.0.113.7").await.ok(200);
}

#[tokio::test]
async fn a_client_with_a_whole_ipv6_network_counts_as_one_client() {
    let world = World::new().await;
    let service = behind_a_proxy("127.0.0.1,::1");
    let wrong = world.anonymous.with_token("x.y.z").at(&service);
    for n in 0..5 {
        from(&wrong, &format!("2001:db8:1:2::{n}")).await.refused(401, "unauthenticated");
    }
    from(&wrong, "[2001:db8:1:2:ffff::9]:443").await.refused(429, "rate-limited");
    from(&wrong, "2001:db8:1:3::1").await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn an_untrusted_clients_forwarded_address_is_ignored() {
    let world = World::new().await;
    let service = behind_a_proxy("10.0.0.0/8");
    let wrong = world.anonymous.with_token("x.y.z").at(&service);
    for n in 0..5 {
        from(&wrong, &format!("203.0.113.{n}, 10.0.0.1")).await.refused(401, "unauthenticated");
    }
    from(&wrong, "203.0.113.99").await.refused(429, "rate-limited");
}

#[tokio::test]
async fn the_audit_log_has_the_address_of_the_client_not_the_proxy() {
    let world = World::new().await;
    for (trusted, expected) in [("127.0.0.1,::1", "203.0.113.7"), ("10.0.0.0/8", "127.0.0.1")] {
        let service = behind_a_proxy(trusted);
        let saving = world.alice.at(&service).post("/v1/skills", skill(&format!("by-{}", &expected[..3])));
        saving.header("X-Forwarded-For", "198.51.100.9, 203.0.113.7").await.ok(201);
        let newest = &world.admin.get("/v1/admin/audit?user=alice&limit=1").await.ok(200)["items"][0];
        assert_eq!((&newest["action"], &newest["address"]), (&json!("skill.save"), &json!(expected)));
    }
}
