//! Examples of skills: limited in number, without near copies, and of one user only.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use knowhow_domain::learning::lesson::{EXAMPLES_PER_SKILL, EXAMPLES_PER_USER};
use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Example, SessionId, SkillId, TenantSettings, new_id};
use knowhow_store::learning::examples::{self, ExampleLine, Imported, NewExample, NewExamples};
use knowhow_store::skills::embeddings::{self, Page, Vectors};
use knowhow_store::skills::{self, Revisions};
use knowhow_store::{Principal, Pruned, TenantTx, WriteTx, prune};
use uuid::Uuid;

use crate::harness::{House, now, with_database};
use crate::writer::{Draft, Keep, delete, save};

pub const MODEL: &str = "test/one";
const SAME_UP_TO: f64 = 0.05;

/// A user with a skill, and a session that has had turns.
pub struct Learner<'a> {
    pub house: &'a House,
    pub who: Principal,
    pub skill: SkillId,
    pub session: SessionId,
}

/// A message that a skill learns from.
pub struct Heard<'a> {
    pub message: &'a str,
    pub vector: Option<&'a [f32]>,
    /// Number of the turn in the session.
    pub turn: i32,
    pub at: DateTime<Utc>,
}

impl<'a> Learner<'a> {
    pub async fn new(house: &'a House, who: Principal) -> Self {
        let skill = save(&house.db, &who, &Draft::text("plan", "Plan.")).await.unwrap().id;
        let session = new_session(house, &who).await;
        Self { house, who, skill, session }
    }

    pub async fn learn(&self, heard: Heard<'_>) -> bool {
        self.learn_as(false, heard).await
    }

    /// Learns an example or a counter-example, and returns whether it is new.
    pub async fn learn_as(&self, is_counter: bool, heard: Heard<'_>) -> bool {
        let Heard { message, vector, turn, at } = heard;
        let mut tx = WriteTx::begin(&self.house.db, &self.who, "test").await.unwrap();
        let new = NewExample {
            skill: self.skill,
            is_counter,
            session: self.session,
            turn,
            message,
            digest: manifest::digest(message.as_bytes()),
            embedding: vector.map(|vector| (MODEL, vector)),
            same_up_to: SAME_UP_TO,
            task: Some("test_embed_examples"),
            now: at,
        };
        let is_new = examples::learn(&mut tx, &new).await.unwrap();
        examples::evict(&mut tx);
        tx.commit().await.unwrap();
        is_new
    }

    pub async fn list_of(&self, skill: SkillId) -> Vec<Example> {
        let mut tx = WriteTx::begin(&self.house.db, &self.who, "test").await.unwrap();
        examples::list(&mut tx, skill, None, 1000).await.unwrap()
    }

    async fn messages(&self) -> Vec<String> {
        self.list_of(self.skill).await.into_iter().map(|e| e.message).collect()
    }

    pub async fn revisions(&self) -> Revisions {
        skills::find_revisions(&self.house.db, &self.who).await.unwrap()
    }

    async fn import(&self, lines: &[(&str, &str)], session: Option<&str>) -> Option<Vec<Imported>> {
        let line = |(skill, message): &(&str, &str)| ExampleLine {
            skill: (*skill).into(),
            message: (*message).into(),
            is_counter: false,
        };
        let lines: Vec<ExampleLine> = lines.iter().map(line).collect();
        let mut tx = WriteTx::begin(&self.house.db, &self.who, "test").await.unwrap();
        let imported =
            examples::import(&mut tx, NewExamples { lines: &lines, session, task: None }, now()).await.unwrap();
        tx.commit().await.unwrap();
        imported
    }
}

/// Creates a session of the user that has had three turns.
async fn new_session(house: &House, who: &Principal) -> SessionId {
    let (tenant, user, id) = (who.tenant().0, who.user().unwrap().0, new_id());
    house
        .place
        .run(&format!(
            "insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
             values ('{tenant}', '{user}', '{id}', sha256('text'), 'text', '{{}}', now());
             insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top,
                 snapshot_id, started_at, turns, last_message_at)
             values ('{tenant}', '{user}', '{id}', '{id}', 'sms', 10, 16000, false, '{id}', now(), 3, now())"
        ))
        .await;
    SessionId(id)
}

/// Returns a vector at this angle.
pub fn at(degrees: f32) -> [f32; 2] {
    let (sin, cos) = degrees.to_radians().sin_cos();
    [cos, sin]
}

#[tokio::test]
async fn a_skill_keeps_the_examples_confirmed_last() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let begin = now();
    let moment = |n: usize| begin + TimeDelta::seconds(n as i64);
    for n in 0..EXAMPLES_PER_SKILL {
        assert!(learner.learn(Heard { message: &format!("message {n}"), vector: None, turn: 1, at: moment(n) }).await);
    }
    // The oldest example is confirmed, so the next oldest is removed.
    assert!(!learner.learn(Heard { message: "message 0", vector: None, turn: 2, at: moment(100) }).await);
    assert!(learner.learn(Heard { message: "one more", vector: None, turn: 2, at: moment(101) }).await);
    let messages = learner.messages().await;
    assert_eq!(messages.len(), EXAMPLES_PER_SKILL);
    assert!(messages.contains(&"message 0".into()) && !messages.contains(&"message 1".into()), "{messages:?}");
    let first = learner.list_of(learner.skill).await.pop().unwrap();
    assert_eq!((first.confirmations, first.learned_at, first.confirmed_at), (2, moment(0), moment(100)));
}

#[tokio::test]
async fn a_similar_message_confirms_an_example_once_per_turn() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let before = learner.revisions().await;
    assert!(learner.learn(Heard { message: "first", vector: Some(&at(0.0)), turn: 1, at: now() }).await);
    assert!(!learner.learn(Heard { message: "first", vector: Some(&at(0.0)), turn: 1, at: now() }).await);
    assert!(!learner.learn(Heard { message: "nearly first", vector: Some(&at(10.0)), turn: 2, at: now() }).await);
    assert!(!learner.learn(Heard { message: "nearly first", vector: Some(&at(10.0)), turn: 2, at: now() }).await);
    assert!(learner.learn(Heard { message: "second", vector: Some(&at(30.0)), turn: 2, at: now() }).await);
    assert!(learner.learn(Heard { message: "of another model", vector: None, turn: 2, at: now() }).await);
    // Vectors with other dimensions, or without a direction, cannot be compared.
    assert!(learner.learn(Heard { message: "longer", vector: Some(&[1.0, 0.0, 0.0]), turn: 2, at: now() }).await);
    assert!(learner.learn(Heard { message: "nothing", vector: Some(&[0.0, 0.0]), turn: 2, at: now() }).await);
    assert_eq!(learner.messages().await, ["nothing", "longer", "of another model", "second", "first"]);
    assert_eq!(learner.list_of(learner.skill).await.pop().unwrap().confirmations, 2);
    let after = learner.revisions().await;
    assert_eq!((after.skills, after.examples), (before.skills, before.examples + 4), "one for each vector");
    let learned = examples::list_vectors(&house.db, &learner.who, MODEL).await.unwrap();
    assert_eq!((learned.revision, learned.examples.len()), (after.examples, 4));
    let other = examples::list_vectors(&house.db, &learner.who, "test/two").await.unwrap();
    assert_eq!((other.revision, other.examples.len()), (after.examples, 0));
}

#[tokio::test]
async fn vectors_made_later_are_compared_when_they_are_stored() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    for message in ["first", "the same", "another"] {
        assert!(learner.learn(Heard { message, vector: None, turn: 1, at: now() }).await);
    }
    let list = async |model: &str| {
        let page = Page { model, after: Uuid::nil(), limit: 10 };
        embeddings::list_pending(&house.db, &learner.who, EmbeddedKind::Example, page).await.unwrap()
    };
    let stale = list(MODEL).await;
    let messages: Vec<&str> = stale.iter().map(|pending| pending.text.as_str()).collect();
    assert_eq!(messages, ["first", "the same", "another"]);
    let put = async |model: &str, angles: &[f32]| {
        let vectors: Vec<_> = stale.iter().cloned().zip(angles.iter().map(|a| at(*a).to_vec())).collect();
        let made = Vectors { model, vectors: &vectors, now: now() };
        embeddings::put(&house.db, &learner.who, EmbeddedKind::Example, made).await.unwrap();
    };
    put(MODEL, &[0.0, 5.0, 90.0]).await;
    assert_eq!(learner.messages().await, ["another", "first"]);
    assert_eq!(learner.list_of(learner.skill).await.pop().unwrap().confirmations, 2);
    assert!(list(MODEL).await.is_empty());
    // Vectors of another model replace the old ones, even if that model sees no difference between the messages.
    assert_eq!(list("test/two").await.len(), 2);
    put("test/two", &[0.0, 0.0, 1.0]).await;
    assert_eq!(learner.messages().await, ["first"]);
    assert_eq!(examples::list_vectors(&house.db, &learner.who, "test/two").await.unwrap().examples.len(), 1);
}

#[tokio::test]
async fn concurrent_lessons_respect_the_limits() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    // 18 messages, each in three nearly equal forms.
    let lessons = (0..54).map(|n: u16| {
        let learner = &learner;
        let angle = f32::from(n % 18) * 20.0 + f32::from(n / 18);
        async move {
            learner
                .learn(Heard {
                    message: &format!("message {n}"),
                    vector: Some(&at(angle)),
                    turn: i32::from(n),
                    at: now(),
                })
                .await
        }
    });
    join_all(lessons).await;
    let user = learner.who.user().unwrap().0;
    assert_eq!(learner.messages().await.len(), EXAMPLES_PER_SKILL);
    let doubled = format!(
        "select count(*) from skill_examples a join skill_examples b on a.user_id = b.user_id and a.example_id < b.example_id
         where a.user_id = '{user}' and a.embedding <=> b.embedding <= {}",
        SAME_UP_TO / 2.0
    );
    assert_eq!(house.place.count(&doubled).await, 0);
}

#[tokio::test]
async fn a_user_keeps_a_limited_number_of_examples() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let user = learner.who.user().unwrap().0;
    let skills = EXAMPLES_PER_USER / 10 + 1;
    house
        .place
        .run(&format!(
            "insert into skills (tenant_id, user_id, skill_id, name, description, tags, triggers, see_also, attributes, source, version, digest,
                 document_digest, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources,
                 resource_bytes, created_at, updated_at)
             select tenant_id, user_id, gen_random_uuid(), 'other-' || n, description, tags, triggers, see_also, attributes,
                 source, version, digest, document_digest, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
                 content_at_byte, resources, resource_bytes, created_at, updated_at
             from skills s, generate_series(1, {skills}) n where s.user_id = '{user}';
             insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, learned_at,
                 confirmed_at)
             select tenant_id, user_id, skill_id, gen_random_uuid(), n::text, sha256(n::text::bytea), now(),
                 now() - interval '1 hour' - make_interval(secs => n)
             from skills, generate_series(1, 10) n where user_id = '{user}' and name like 'other-%'"
        ))
        .await;
    assert!(learner.learn(Heard { message: "one more", vector: None, turn: 1, at: now() }).await);
    let count = format!("select count(*) from skill_examples where user_id = '{user}'");
    assert_eq!(house.place.count(&count).await, EXAMPLES_PER_USER as i64);
    assert_eq!(learner.messages().await, ["one more"]);
    let oldest = format!("{count} and message = '10'");
    assert_eq!(house.place.count(&oldest).await, skills as i64 - 11);
}

#[tokio::test]
async fn other_users_and_deleted_skills_learn_nothing() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = Learner::new(&house, tenancy.user("alice").await).await;
    let bob = Learner::new(&house, tenancy.user("bob").await).await;
    let as_bob = |skill, session| Learner { house: &house, who: bob.who.clone(), skill, session };
    for (skill, session) in [(alice.skill, bob.session), (bob.skill, alice.session), (bob.skill, SessionId(new_id()))] {
        assert!(!as_bob(skill, session).learn(Heard { message: "stolen", vector: None, turn: 1, at: now() }).await);
    }
    assert!(alice.messages().await.is_empty() && bob.messages().await.is_empty());
    assert!(alice.learn(Heard { message: "her own", vector: Some(&at(0.0)), turn: 1, at: now() }).await);
    let mut tx = WriteTx::begin(&house.db, &bob.who, "test").await.unwrap();
    assert_eq!(examples::remove(&mut tx, alice.skill, None).await.unwrap(), 0);
    examples::fail(&mut tx, alice.skill, &alice.session.to_string());
    examples::remove_of_session(&mut tx, alice.session);
    examples::hand_over(&mut tx, alice.skill, bob.skill, SAME_UP_TO);
    assert!(examples::list(&mut tx, alice.skill, None, 10).await.unwrap().is_empty());
    tx.commit().await.unwrap();
    let mut tx = TenantTx::begin(&house.db, &bob.who, "test").await.unwrap();
    assert!(examples::list_for_export(&mut tx).await.unwrap().is_empty());
    drop(tx);
    assert!(examples::list_vectors(&house.db, &bob.who, MODEL).await.unwrap().examples.is_empty());
    assert_eq!(alice.messages().await, ["her own"]);
    delete(&house.db, &alice.who, "plan", Keep::a_month()).await.unwrap();
    assert!(alice.messages().await.is_empty());
    assert!(!alice.learn(Heard { message: "too late", vector: None, turn: 2, at: now() }).await);
}

#[tokio::test]
async fn a_successor_takes_over_examples_that_are_new_to_it() {
    let house = House::open().await;
    let mut learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let from = learner.skill;
    let begin = now();
    let moment = |n: usize| begin + TimeDelta::seconds(n as i64);
    for n in 0..12_u8 {
        assert!(
            learner
                .learn(Heard {
                    message: &format!("old {n}"),
                    vector: Some(&at(f32::from(n) * 20.0)),
                    turn: 1,
                    at: moment(n.into())
                })
                .await
        );
    }
    assert!(learner.learn(Heard { message: "both", vector: None, turn: 1, at: moment(50) }).await);
    learner.skill = save(&house.db, &learner.who, &Draft::text("successor", "Go on.")).await.unwrap().id;
    assert!(learner.learn(Heard { message: "both", vector: None, turn: 1, at: moment(60) }).await);
    assert!(learner.learn(Heard { message: "near old 11", vector: Some(&at(221.0)), turn: 1, at: moment(61) }).await);
    for n in 0..6_usize {
        assert!(learner.learn(Heard { message: &format!("own {n}"), vector: None, turn: 1, at: moment(62 + n) }).await);
    }
    let before = learner.revisions().await.examples;
    let mut tx = WriteTx::begin(&house.db, &learner.who, "test").await.unwrap();
    examples::hand_over(&mut tx, from, learner.skill, SAME_UP_TO);
    tx.commit().await.unwrap();
    let messages: HashSet<String> = learner.messages().await.into_iter().collect();
    assert_eq!(messages.len(), EXAMPLES_PER_SKILL);
    for gone in ["old 0", "old 1", "old 2", "old 11"] {
        assert!(!messages.contains(gone), "{messages:?}");
    }
    assert!(["both", "near old 11", "own 0", "old 3", "old 10"].iter().all(|kept| messages.contains(*kept)));
    assert!(learner.revisions().await.examples > before);
}

#[tokio::test]
async fn imports_reach_only_the_users_own_skills() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let lines = [("plan", "one"), ("plan", "one"), ("none", "two"), ("plan", "three")];
    let imported = learner.import(&lines, None).await.unwrap();
    assert_eq!(imported, [Imported::Added, Imported::Known, Imported::NoSkill, Imported::Added]);
    assert_eq!(learner.import(&lines[..1], None).await.unwrap(), [Imported::Known]);
    assert_eq!(learner.import(&lines, Some("no such session")).await, None);
    let many: Vec<String> = (0..40).map(|n| format!("message {n}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|message| ("plan", message.as_str())).collect();
    assert_eq!(learner.import(&many, None).await.unwrap().len(), 40);
    assert_eq!(learner.messages().await.len(), EXAMPLES_PER_SKILL);
    let mut tx = TenantTx::begin(&house.db, &learner.who, "test").await.unwrap();
    let exported = examples::list_for_export(&mut tx).await.unwrap();
    assert_eq!(exported.len(), EXAMPLES_PER_SKILL);
    let last = exported.last().unwrap();
    assert_eq!((last.skill.as_str(), last.message.as_str(), last.is_counter), ("plan", "message 39", false));
}

#[tokio::test]
async fn pruning_removes_examples_not_confirmed_for_long() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let days = |days| TenantSettings { example_days: days, ..TenantSettings::default() };
        let usual = Learner::new(&house, house.tenant().await.user("alice").await).await;
        let brief = Learner::new(&house, house.tenant_with(&days(10)).await.user("alice").await).await;
        let none = Learner::new(&house, house.tenant_with(&days(0)).await.user("alice").await).await;
        let at = now();
        for learner in [&usual, &brief, &none] {
            for (message, age) in [("a year", 366), ("weeks", 11), ("days", 9)] {
                assert!(learner.learn(Heard { message, vector: None, turn: 1, at: at - TimeDelta::days(age) }).await);
            }
        }
        assert!(!usual.learn(Heard { message: "a year", vector: None, turn: 2, at }).await);
        let before = brief.revisions().await.examples;
        assert_eq!(prune(&house.db, at, 2).await.unwrap(), Pruned { examples: 2, ..Pruned::default() });
        assert_eq!(prune(&house.db, at, 100).await.unwrap(), Pruned { examples: 3, ..Pruned::default() });
        assert_eq!(prune(&house.db, at, 100).await.unwrap(), Pruned::default());
        assert_eq!(usual.messages().await, ["days", "weeks", "a year"]);
        assert_eq!(brief.messages().await, ["days"]);
        assert!(none.messages().await.is_empty());
        assert!(brief.revisions().await.examples > before);
    })
    .await;
}
