//! Concurrent requests of a caller who is not cached: only one of them queries the database.

use futures_util::future::join_all;
use knowhow_domain::{ApiKey, KeyId, Result, Scope, UserId, new_id};
use knowhow_store::tenants::keys;
use knowhow_store::vault::credential::api_key;
use knowhow_store::{Gate, Principal, TenantTx};
use knowhow_testing::{Wire, poll_async};

use crate::harness::{House, gate, now, open};

const CALLERS: usize = 100;
/// Beginning of the message that looks up a caller.
const LOOKUP: &str = "SET LOCAL ROLE knowhow_system";

async fn authenticate_all(gate: &Gate, credential: &str, user: Option<&str>) -> Vec<Result<Principal>> {
    join_all((0..CALLERS).map(|_| gate.authenticate(credential, user))).await
}

#[tokio::test]
async fn a_hundred_tokens_of_an_uncached_tenant_cause_one_lookup() {
    let house = House::open().await;
    let tenant = house.tenant().await;
    let wire = Wire::watching(&house.place.login_url, LOOKUP);
    let db = open(&wire.url, 2, 2);
    let gate = gate(&db);
    let token = tenant.token("alice", "user");
    let all = authenticate_all(&gate, &token, None).await;
    let first = all[0].as_ref().unwrap().user().unwrap();
    assert!(all.iter().all(|caller| caller.as_ref().is_ok_and(|caller| caller.user().unwrap() == first)));
    assert_eq!(wire.seen(), 2, "one for the tenant, and one that made the user");
    assert!(authenticate_all(&gate, &tenant.token("bob", "user"), None).await.iter().all(Result::is_ok));
    assert_eq!(wire.seen(), 3, "one for the other user");
    // A user who was cached before an erasure is looked up again.
    let erased = format!("update tenants set erasures = erasures + 1 where tenant_id = '{}'", tenant.id.0);
    house.place.run(&erased).await;
    gate.state().forget_tenants();
    assert!(authenticate_all(&gate, &token, None).await.iter().all(Result::is_ok));
    assert_eq!(wire.seen(), 5, "one for the tenant, and one for the user");
    db.close().await;
}

#[tokio::test]
async fn a_hundred_uncached_keys_cause_one_lookup_and_wait_for_no_write() {
    let house = House::open().await;
    let admin = house.tenant().await.admin().await;
    let (prefix, text) = api_key::generate().unwrap();
    let hash = house.gate.state().sealer().hash_api_key(api_key::parse(&text).unwrap().1);
    let key = ApiKey {
        id: KeyId(new_id()),
        tenant: admin.tenant_slug().to_owned(),
        prefix,
        name: "backend".into(),
        scopes: vec![Scope::SkillsRead],
        created_at: now(),
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    };
    let mut tx = TenantTx::begin_admin(&house.db, &admin, UserId::TENANT_WIDE, "test").await.unwrap();
    let secret = keys::Hashed { hash: &hash, mark: house.gate.state().sealer().mark() };
    keys::create(&mut tx, &key, secret).await.unwrap();
    tx.commit().await.unwrap();
    // A request that waited for the update of `last_used_at` would wait for this lock.
    let mut locked = house.place.owner().await;
    let lock = format!("begin; select from api_keys where key_id = '{}' for update", key.id);
    sqlx::Executor::execute(&mut locked, sqlx::AssertSqlSafe(lock)).await.unwrap();

    let wire = Wire::watching(&house.place.login_url, LOOKUP);
    let db = open(&wire.url, 2, 2);
    let gate = gate(&db);
    assert!(authenticate_all(&gate, &text, Some("alice")).await.iter().all(Result::is_ok));
    assert!(wire.seen() <= 3, "one for the key, one for the user, and one that notes the use: {}", wire.seen());
    sqlx::Connection::close(locked).await.unwrap();
    let noted = format!("select count(*) from api_keys where key_id = '{}' and last_used_at is not null", key.id);
    poll_async("the note of the use", async || (house.place.count(&noted).await > 0).then_some(())).await;

    let (_, unknown) = api_key::generate().unwrap();
    let before = wire.seen();
    assert!(authenticate_all(&gate, &unknown, Some("alice")).await.iter().all(Result::is_err));
    assert_eq!(wire.seen(), before + 1);
    db.close().await;
}
