//! The inspection of the database at start: no findings for a sound database, and a sentence for each problem.

use knowhow_store::deployment::boot;

use crate::harness::{Place, open, with_database, with_role};

const CONNECT: &str = "connect as knowhow_login, or as another login role created by knowhow migrate";

async fn inspect(url: &str) -> Vec<String> {
    let db = open(url, 1, 1);
    let findings = boot::inspect(&db).await.unwrap();
    db.close().await;
    findings
}

#[tokio::test]
async fn a_sound_database_has_no_findings() {
    assert_eq!(inspect(&Place::shared().await.login_url).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_overprivileged_login_role_is_reported_with_the_remedy() {
    let place = Place::shared().await;
    for (options, sentence) in [
        ("inherit", "inherits its grants: alter role ROLE noinherit"),
        ("noinherit superuser", "is a superuser; CONNECT"),
        ("noinherit bypassrls", "bypasses row-level security; CONNECT"),
    ] {
        with_role(&place, options, async |role, url| {
            let sentence = sentence.replace("ROLE", role).replace("CONNECT", CONNECT);
            assert_eq!(inspect(url).await, [format!("the role '{role}' {sentence}")]);
        })
        .await;
    }
}

#[tokio::test]
async fn a_login_role_with_direct_grants_is_reported() {
    with_database(async |place| {
        with_role(place, "noinherit", async |role, url| {
            assert_eq!(inspect(url).await, Vec::<String>::new());
            for (what, whose) in
                [("select on skills", role), ("update (name) on skills", role), ("select on skills", "public")]
            {
                place.run(&format!("grant {what} to {whose}")).await;
                let sentence =
                    format!("the role '{role}' has grants on tables, directly or through public: revoke them");
                assert_eq!(inspect(url).await, [sentence], "{what} to {whose}");
                place.run(&format!("revoke {what} from {whose}")).await;
            }
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_login_role_that_owns_a_table_is_reported() {
    with_database(async |place| {
        with_role(place, "noinherit", async |role, url| {
            place.run(&format!("create table stray (id uuid); alter table stray owner to {role}")).await;
            assert_eq!(inspect(url).await, [format!("the role '{role}' owns tables; only knowhow_owner may")]);
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_login_role_with_wrong_memberships_is_reported() {
    let place = Place::shared().await;
    with_role(&place, "noinherit", async |role, url| {
        place.run(&format!("grant knowhow_owner to {role} with inherit false, set true")).await;
        assert_eq!(inspect(url).await, [format!("the role '{role}' can become knowhow_owner: revoke it")]);
        place.run(&format!("revoke knowhow_owner, knowhow_admin from {role}")).await;
        let sentence = format!("the role '{role}' cannot take the roles of the service: run knowhow migrate");
        assert_eq!(inspect(url).await, [sentence]);
    })
    .await;
}

#[tokio::test]
async fn a_table_without_forced_row_level_security_is_reported() {
    with_database(async |place| {
        place.run("alter table skills no force row level security").await;
        place.run("alter table issuers disable row level security").await;
        place.run("create table forgotten (tenant_id uuid)").await;
        assert_eq!(
            inspect(&place.login_url).await,
            ["forgotten", "issuers", "skills"]
                .map(|t| format!("the table '{t}' is not under forced row-level security"))
        );
    })
    .await;
}

#[tokio::test]
async fn a_policy_that_is_too_wide_and_a_readable_view_are_reported() {
    with_database(async |place| {
        place.run("create policy oops on skills to knowhow_tenant using (true)").await;
        place.run("alter policy owner on skill_resources using (tenant_id = app.tenant_id())").await;
        place.run("create view leak as select * from skills").await;
        place.run("grant select on leak to knowhow_tenant").await;
        let mut found = inspect(&place.login_url).await;
        found.sort();
        assert_eq!(
            found,
            [
                "the policy 'oops' on 'skills' lets rows of others through",
                "the policy 'owner' on 'skill_resources' lets rows of others through",
                "the view 'leak' is readable and not under row-level security: drop it",
            ]
        );
    })
    .await;
}
