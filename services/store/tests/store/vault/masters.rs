//! The master key of the deployment is replaced without an interruption.

use knowhow_domain::{ApiKey, KeyId, Scope, TenantId, UserId, new_id};
use knowhow_store::tenants::keys::{self, Hashed, SealedAt};
use knowhow_store::vault::credential::{MasterKeyUse, api_key};
use knowhow_store::{Gate, TenantTx};
use knowhow_testing::poll_async;

use crate::harness::{House, gate_under, now, with_database};

async fn is_let_in(gate: &Gate, credential: &str, user: Option<&str>) -> bool {
    gate.authenticate(credential, user).await.is_ok()
}

#[tokio::test]
async fn the_previous_key_works_until_everything_uses_the_new_one() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenant = house.tenant().await;
        let admin = tenant.admin().await;
        let (prefix, text) = api_key::generate().unwrap();
        let secret = api_key::parse(&text).unwrap().1.to_owned();
        let sealer = house.gate.state().sealer();
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
        let hash = sealer.hash_api_key(&secret);
        keys::create(&mut tx, &key, Hashed { hash: &hash, mark: sealer.mark() }).await.unwrap();
        tx.commit().await.unwrap();
        let token = tenant.token("alice", "user");

        let alone = gate_under(&house.db, 8, None);
        assert!(!is_let_in(&alone, &text, Some("alice")).await && !is_let_in(&alone, &token, None).await);
        let both = gate_under(&house.db, 8, Some(7));
        let mark = both.state().sealer().mark().to_vec();
        assert_eq!(keys::count_hashed_otherwise(&house.db, &mark, now()).await.unwrap(), 1);
        assert!(is_let_in(&both, &text, Some("alice")).await && is_let_in(&both, &token, None).await);
        poll_async("the key to be hashed anew", async || {
            (keys::count_hashed_otherwise(&house.db, &mark, now()).await.unwrap() == 0).then_some(())
        })
        .await;

        let page = keys::list_sealed(&house.db, TenantId::FIRST, 10).await.unwrap();
        assert_eq!((page.len(), page[0].tenant), (1, tenant.id));
        assert!(matches!(page[0].at, SealedAt::Issuer(_)));
        let context = tenant.id.0.as_bytes();
        let (opened, under) = both.state().sealer().open_under(&page[0].bytes, context).unwrap();
        assert_eq!(under, MasterKeyUse::Previous);
        let anew = both.state().sealer().seal(&opened, context).unwrap();
        assert!(keys::put_sealed(&house.db, &page[0], &anew).await.unwrap());
        // A writer that read an outdated value replaces nothing.
        assert!(!keys::put_sealed(&house.db, &page[0], &page[0].bytes).await.unwrap());
        assert!(keys::list_sealed(&house.db, tenant.id, 10).await.unwrap().is_empty());

        // The previous key is no longer needed.
        let alone = gate_under(&house.db, 8, None);
        assert!(is_let_in(&alone, &text, Some("alice")).await && is_let_in(&alone, &token, None).await);
        house.db.close().await;
    })
    .await;
}

#[tokio::test]
async fn the_current_and_previous_secrets_of_a_webhook_are_sealed_again() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenant = house.tenant().await;
        place
            .run(&format!(
                "insert into webhooks (tenant_id, url, sealed_secret, previous_sealed_secret, previous_until, created_at)
                 values ('{}', 'https://hook.test.example', 'now', 'before', now(), now())",
                tenant.id
            ))
            .await;
        let page = keys::list_sealed(&house.db, TenantId::FIRST, 10).await.unwrap();
        let kept = |at| page.iter().find(|sealed| sealed.at == at).unwrap();
        for (at, anew) in [(SealedAt::Webhook, b"NOW"), (SealedAt::PreviousOfWebhook, b"OLD")] {
            assert!(keys::put_sealed(&house.db, kept(at), anew).await.unwrap());
        }
        let sql = "select count(*) from webhooks where sealed_secret = 'NOW' and previous_sealed_secret = 'OLD'";
        assert_eq!(place.count(sql).await, 1);
        house.db.close().await;
    })
    .await;
}
