//! Operators and admins: the tenant that they act for.

use serde_json::json;

use crate::answers::{members, pluck};
use crate::callers::{World, skill};
use crate::service::{keeper, printed};

#[tokio::test]
async fn an_admin_stays_in_their_tenant() {
    let (world, other) = (World::new().await, World::new().await);
    let foreign = format!("?tenant={}", other.slug);
    for path in ["users", "issuers", "keys", "audit", "archive"] {
        let path = format!("/v1/admin/{path}");
        world.admin.get(&format!("{path}{foreign}")).await.refused(404, "not-found");
        world.admin.get(&format!("{path}?tenant=no-such-tenant")).await.refused(404, "not-found");
        world.admin.get(&format!("{path}?tenant={}", world.slug)).await.ok(200);
        world.operator.get(&format!("{path}?tenant=no-such-tenant")).await.refused(404, "not-found");
        world.operator.get(&format!("{path}?tenant=%00")).await.refused(404, "not-found");
    }
    let issuer = other.admin.get("/v1/admin/issuers").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    world.admin.delete(&format!("/v1/admin/issuers/{issuer}")).await.refused(404, "not-found");
    let key = json!({"name": "k", "scopes": ["skills:read"]});
    let id = other.admin.post("/v1/admin/keys", key).await.ok(201)["id"].as_str().unwrap().to_owned();
    world.admin.delete(&format!("/v1/admin/keys/{id}")).await.refused(404, "not-found");
    other.alice.get("/v1/skills").await.ok(200);
}

/// An operator must name a tenant. A request without one writes no data.
#[tokio::test]
async fn an_operator_must_name_a_tenant() {
    let World { operator, alice, slug, .. } = &World::new().await;
    let issuer = json!({"iss": "i", "algorithm": "HS256", "secret": "s".repeat(32)});
    for (path, body) in [
        ("issuers", issuer),
        ("keys", json!({"name": "k", "scopes": ["skills:read"]})),
        ("users", json!({"external_id": "x"})),
    ] {
        let answer = operator.post(&format!("/v1/admin/{path}"), body.clone()).await;
        assert!([400, 404].contains(&answer.status), "{answer}");
        let twice = operator.post(&format!("/v1/admin/{path}?tenant={slug}&tenant=other"), body).await;
        assert!([400, 404].contains(&twice.status), "{twice}");
    }
    operator.get("/v1/skills").await.refused(403, "forbidden");
    operator.post("/v1/skills", skill("x")).await.refused(403, "forbidden");
    assert!(alice.names().await.is_empty());
    operator.at(keeper()).get(&format!("/v1/admin/users?tenant={slug}")).await.ok(200);
}

/// An operator's token may have any tenant, so a write without `?tenant=` could go to an unintended one.
#[tokio::test]
async fn an_operator_names_the_tenant_of_writes_even_with_a_tenants_token() {
    let World { operator, admin, slug, .. } = &World::new().await;
    let token = printed(&["token", "--operator", "--user", "root", "--tenant", slug]);
    let standing = operator.with_token(token);
    let nobody = uuid::Uuid::now_v7();
    let key = json!({"name": "k", "scopes": ["skills:read"]});
    let issuer = json!({"iss": "i", "algorithm": "HS256", "secret": "s".repeat(32)});
    let writes = |query: &str| {
        [
            standing.post(&format!("/v1/admin/keys{query}"), key.clone()),
            standing.post(&format!("/v1/admin/issuers{query}"), issuer.clone()),
            standing.post(&format!("/v1/admin/users{query}"), json!({"external_id": "x"})),
            standing.delete(&format!("/v1/admin/keys/{nobody}{query}")),
            standing.delete(&format!("/v1/admin/issuers/{nobody}{query}")),
            standing.post(&format!("/v1/admin/archive/{nobody}/restore{query}"), json!({"reason": "r"})),
            standing.delete(&format!("/v1/admin/jobs/1{query}")),
            standing.post(&format!("/v1/admin/jobs/1/retry{query}"), json!({})),
        ]
    };
    for write in writes("") {
        let problem = write.await.refused(400, "malformed");
        assert!(problem["detail"].as_str().unwrap().contains("?tenant=<slug>"), "{problem}");
    }
    for (write, status) in writes(&format!("?tenant={slug}")).into_iter().zip([201, 201, 200, 404, 404, 404, 404, 404])
    {
        let answer = write.await;
        assert_eq!(answer.status, status, "{answer}");
        assert!(status == 404 || answer.json()["tenant"] == json!(slug), "{answer}");
    }
    // Reads use the tenant of the token, and an admin does not have to name a tenant.
    let users = standing.get("/v1/admin/users").await.ok(200);
    assert!(pluck(&users["items"], "tenant").iter().all(|tenant| tenant == slug));
    assert_eq!(admin.post("/v1/admin/users", json!({"external_id": "y"})).await.ok(200)["tenant"], json!(slug));
}

#[tokio::test]
async fn an_operator_reads_the_statistics_of_the_process() {
    let World { operator, admin, alice, .. } = &World::new().await;
    let before = operator.get("/v1/admin/stats").await.ok(200);
    alice.create(skill("plan-meeting")).await;
    for _ in 0..2 {
        alice.post("/v1/skills/match", json!({"message": "use plan-meeting"})).await.ok(200);
    }
    let after = operator.get("/v1/admin/stats").await.ok(200);
    let grown = |count: &str| after["catalogues"][count].as_u64() > before["catalogues"][count].as_u64();
    assert!(grown("misses") && grown("hits"), "{before} {after}");
    assert!(after["catalogues"]["users"].as_u64() >= Some(1) && after["catalogues"]["bytes"].as_u64() > Some(0));
    assert_eq!(members(&after), ["catalogues", "graph", "models"]);
    admin.get("/v1/admin/stats").await.refused(403, "forbidden");
}
