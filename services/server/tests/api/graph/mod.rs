//! The graph: relations stated in texts, entities named by memories, and computed relations. Tests with a worker have
//! a database of their own, because a worker takes every job.

mod dialogues;
mod reads;
mod repaired;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::background::WITH_WORKER;
use crate::callers::{Caller, World, skill};
use crate::service::poll_async;
use crate::talk::{Talk, names};
use crate::worker::{Ground, world};

/// Returns a skill whose body contains `words`.
fn saying(name: &str, words: &str) -> Value {
    let mut skill = skill(name);
    skill["content"] = json!(format!("# {name}\n\nFirst this.\n\n{words}\n"));
    skill
}

/// Returns the relations of a skill as `direction type other source`, sorted.
async fn relations(who: &Caller, name: &str) -> Vec<String> {
    let path = format!("/v1/skills/{}/relations", name.replace('/', "%2F"));
    let items = who.get(&path).await.ok(200)["items"].clone();
    let word = |item: &Value, member: &str| item[member].as_str().unwrap().to_owned();
    let told = |item: &Value| ["direction", "type", "skill", "source"].map(|member| word(item, member)).join(" ");
    let mut told: Vec<String> = items.as_array().unwrap().iter().map(told).collect();
    told.sort();
    told
}

async fn until_related(who: &Caller, name: &str, expected: &[&str]) {
    poll_async(&format!("{name}: {expected:?}"), async || (relations(who, name).await == expected).then_some(())).await;
}

async fn remember(who: &Caller, content: &str, entities: Value) -> Value {
    who.post("/v1/memories", json!({"content": content, "entities": entities})).await.ok(201)
}

/// A name without a phrase is a weak relation, also if its skill comes later. It does not replace a computed relation.
#[tokio::test]
async fn names_in_a_text_are_weak_relations() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let World { alice, .. } = &world(&service).await;
    alice.create_all(&["web-perf", "often-used"]).await;
    let words = "Then `web-perf` measures it. See superpowers:later-skill and `often-used`. Nobody said this replaces web-perf.";
    alice.create(saying("weekly-report", words)).await;
    let first = ["out see_also often-used extracted", "out see_also web-perf extracted"];
    until_related(alice, "weekly-report", &first).await;
    let said = alice.get("/v1/skills/web-perf/relations").await.ok(200)["items"][0].clone();
    assert_eq!((&said["strength"], &said["mentions"]), (&json!(0.4), &json!(2)), "{said:#}");
    assert_eq!(said["evidence"], "Then web-perf measures it.");
    for text in [
        "weekly-report and often-used in May",
        "weekly-report and often-used in June",
        "weekly-report and often-used in July",
    ] {
        remember(alice, text, json!([])).await;
    }
    let computed = ["both often_used_with often-used computed", first[0], first[1]];
    until_related(alice, "weekly-report", &computed).await;
    alice.create_all(&["later-skill"]).await;
    let all = [computed[0], "out see_also later-skill extracted", first[0], first[1]];
    let mut all = all.to_vec();
    all.sort_unstable();
    until_related(alice, "weekly-report", &all).await;
}

#[tokio::test]
async fn relations_stated_in_a_text_are_extracted_and_go_with_the_text() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let World { alice, bob, .. } = &world(&service).await;
    alice.create_all(&["web-perf", "mcp/email"]).await;
    bob.create_all(&["web-perf"]).await;
    let words = "Works well with web-perf. Requires `mcp/email`, and later-skill. It does not replace web-perf.";
    alice.create(saying("report", words)).await;
    until_related(alice, "report", &["both complements web-perf extracted", "out requires mcp/email extracted"]).await;
    assert_eq!(relations(alice, "mcp/email").await, ["in requires report extracted"]);
    assert_eq!(relations(bob, "web-perf").await, [""; 0]);
    let said = alice.get("/v1/skills/web-perf/relations").await.ok(200)["items"][0].clone();
    assert_eq!(said["evidence"], "Works well with web-perf.");
    // The relation to a missing skill appears when that skill is created, and disappears when the skill is deleted.
    alice.create(skill("later-skill")).await;
    until_related(alice, "later-skill", &["in requires report extracted"]).await;
    alice.delete("/v1/skills/later-skill").await.empty(204);
    assert_eq!(relations(alice, "report").await.len(), 2);
    alice.create(skill("later-skill")).await;
    until_related(alice, "later-skill", &["in requires report extracted"]).await;
    // The changed text states other relations.
    alice.replace("report", "Works well with web-perf. Requires", "It extends").await.ok(200);
    let expected =
        ["out extends later-skill extracted", "out extends mcp/email extracted", "out see_also web-perf extracted"];
    until_related(alice, "report", &expected).await;
    alice.replace("report", "It does not replace web-perf.", "").await.ok(200);
    until_related(alice, "report", &expected[..2]).await;
    assert_eq!(relations(alice, "web-perf").await, [""; 0]);
    service.check_log();
}

#[tokio::test]
async fn frontmatter_states_relations_and_restored_skills_get_them_back() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let world = world(&service).await;
    let World { alice, admin, .. } = &world;
    alice.create_all(&["a-base", "b-base"]).await;
    let text = "---\nname: c-top\ndescription: Does c. Use when c is asked for.\nrequires: [a-base]\nsee-also: [b-base]\n---\n\nDo c.\n";
    alice.post("/v1/skills", json!({"skill_md": text})).await.ok(201);
    let expected = ["out requires a-base extracted", "out see_also b-base extracted"];
    until_related(alice, "c-top", &expected).await;
    alice.delete("/v1/skills/c-top").await.empty(204);
    assert_eq!(relations(alice, "a-base").await, [""; 0]);
    let archived = admin.get("/v1/admin/archive").await.ok(200)["items"][0]["id"].clone();
    let path = format!("/v1/admin/archive/{}/restore", archived.as_str().unwrap());
    admin.post(&path, json!({"reason": "it is needed"})).await.ok(200);
    until_related(alice, "c-top", &expected).await;
}

#[tokio::test]
async fn a_relation_is_declared_once_and_can_be_deleted() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["one", "mcp/two"]).await;
    let path = "/v1/skills/one/relations/requires/mcp%2Ftwo";
    alice.put(path, json!(null)).await.empty(201);
    alice.put(path, json!(null)).await.empty(204);
    assert_eq!(relations(alice, "one").await, ["out requires mcp/two declared"]);
    assert_eq!(relations(alice, "mcp/two").await, ["in requires one declared"]);
    // A symmetric relation is one relation, whichever skill declares it.
    alice.put("/v1/skills/mcp%2Ftwo/relations/complements/one", json!(null)).await.empty(201);
    alice.put("/v1/skills/one/relations/complements/two", json!(null)).await.empty(204);
    let both = ["both complements mcp/two declared", "out requires mcp/two declared"];
    assert_eq!(relations(alice, "one").await, both);
    alice.delete("/v1/skills/one/relations/complements/mcp%2Ftwo").await.empty(204);
    alice.delete("/v1/skills/one/relations/complements/mcp%2Ftwo").await.refused(404, "not-found");
    alice.put("/v1/skills/one/relations/requires/one", json!(null)).await.invalid("/other", "itself");
    alice.put("/v1/skills/one/relations/often_used_with/mcp%2Ftwo", json!(null)).await.invalid("/type", "computed");
    alice.put("/v1/skills/one/relations/requires/nobody", json!(null)).await.refused(404, "not-found");
    bob.put(path, json!(null)).await.refused(404, "not-found");
    let audit = alice.get("/v1/skills/one/relations/").await;
    assert_ne!(audit.status, 200);
    // Relations are deleted with their skills.
    alice.delete("/v1/skills/mcp%2Ftwo").await.empty(204);
    assert_eq!(relations(alice, "one").await, [""; 0]);
}

#[tokio::test]
async fn three_shared_memories_relate_two_skills() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["web-perf", "chrome-tools", "other-one"]).await;
    let both = json!([{"name": "Web-Perf", "kind": "skill"}, {"name": "chrome-tools", "kind": "skill"}]);
    for n in 1..=2 {
        remember(alice, &format!("{n}: looked at a slow page"), both.clone()).await;
        assert_eq!(relations(alice, "web-perf").await, [""; 0], "{n} shared memories");
    }
    // Names that occur only in the text count too.
    remember(alice, "3: measured it with web-perf and chrome-tools", json!([])).await;
    assert_eq!(relations(alice, "web-perf").await, ["both often_used_with chrome-tools computed"]);
    let first = alice.get("/v1/skills/chrome-tools/relations").await.ok(200)["items"][0].clone();
    assert_eq!((&first["skill"], &first["mentions"]), (&json!("web-perf"), &json!(3)));
    assert!((first["strength"].as_f64().unwrap() - 0.9051).abs() < 1e-3, "{first}");
    // A further memory strengthens the existing relation.
    remember(alice, "4: and again", both).await;
    let again = alice.get("/v1/skills/chrome-tools/relations").await.ok(200)["items"].clone();
    assert_eq!((again.as_array().unwrap().len(), &again[0]["mentions"]), (1, &json!(4)));
    // A declared relation replaces the computed one, and none is computed afterwards.
    alice.put("/v1/skills/chrome-tools/relations/enables/web-perf", json!(null)).await.empty(201);
    remember(alice, "5: with web-perf and chrome-tools", json!([])).await;
    assert_eq!(relations(alice, "web-perf").await, ["in enables chrome-tools declared"]);
}

#[tokio::test]
async fn concurrent_memories_make_one_relation() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["web-perf", "chrome-tools"]).await;
    let both = json!([{"name": "web-perf", "kind": "skill"}, {"name": "chrome-tools", "kind": "skill"}]);
    let keep = async |n: i32| remember(alice, &format!("{n}: a page"), both.clone()).await;
    join_all((0..8).map(keep)).await;
    let items = alice.get("/v1/skills/web-perf/relations").await.ok(200)["items"].clone();
    assert_eq!((items.as_array().unwrap().len(), &items[0]["mentions"]), (1, &json!(8)));
}

#[tokio::test]
async fn entities_are_identified_by_their_normalised_spelling() {
    let World { alice, bob, .. } = &World::new().await;
    let named = |name: &str| json!([{"name": name, "kind": "tool"}]);
    remember(alice, "pages are on it", named("Cloudflare")).await;
    remember(alice, "its cache was cold", named("cloudflare ")).await;
    remember(alice, "another incident", named("SR-2023-052")).await;
    remember(alice, "and one more", named("SR 2023 053")).await;
    let of = async |who: &Caller, q: &str| who.get(&format!("/v1/entities?{q}")).await.ok(200)["items"].clone();
    let all = of(alice, "").await;
    assert_eq!(pluck(&all, "name"), ["SR 2023 053", "SR-2023-052", "Cloudflare"]);
    assert_eq!(all[2]["memories"], 2);
    assert_eq!(pluck(&of(alice, "q=CLOUD").await, "name"), ["Cloudflare"]);
    assert_eq!(pluck(&of(alice, "q=sr-2023&kind=tool").await, "name").len(), 2);
    assert_eq!(of(alice, "kind=person").await, json!([]));
    assert_eq!(of(bob, "").await, json!([]));
    let none = alice.post("/v1/memories", json!({"content": "x", "entities": [{"name": " - "}]})).await;
    none.invalid("/entities/0/name", "empty");
    let many: Vec<Value> = (0..33).map(|n| json!({"name": format!("thing {n}")})).collect();
    alice.post("/v1/memories", json!({"content": "x", "entities": many})).await.invalid("/entities", "32");
}

#[tokio::test]
async fn an_entity_named_only_by_a_tainted_session_is_tainted() {
    let World { alice, .. } = &World::new().await;
    let talk = Talk::tainted(alice).await;
    let session = talk.read().await["id"].clone();
    let tainted = json!({"content": "the page says so", "session": session, "entities": [{"name": "Acme"}]});
    alice.post("/v1/memories", tainted).await.ok(201);
    let found = alice.get("/v1/entities").await.ok(200)["items"][0].clone();
    assert_eq!((&found["name"], &found["tainted"]), (&json!("Acme"), &json!(true)));
    // Memories of a tainted session do not relate skills.
    alice.create_all(&["web-perf", "chrome-tools"]).await;
    for n in 0..4 {
        let told = json!({"content": format!("{n}: web-perf with chrome-tools"), "session": session});
        alice.post("/v1/memories", told).await.ok(201);
    }
    assert_eq!(relations(alice, "web-perf").await, [""; 0]);
    remember(alice, "the user says so", json!([{"name": "acme"}])).await;
    assert_eq!(alice.get("/v1/entities").await.ok(200)["items"][0]["tainted"], false);
}

#[tokio::test]
async fn knowledge_contains_memories_uses_and_outcomes() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create_all(&["web-perf", "chrome-tools"]).await;
    alice.put("/v1/skills/web-perf/relations/requires/chrome-tools", json!(null)).await.empty(201);
    let kept = remember(alice, "the shop was slow, web-perf found why", json!([])).await;
    alice.get("/v1/skills/web-perf").await.ok(200);
    alice.post("/v1/skills/used", json!({"skill": "web-perf", "outcome": "success"})).await.ok(200);
    let known = alice.get("/v1/skills/web-perf/knowledge").await.ok(200);
    assert_eq!((&known["skill"], &known["times_used"]), (&json!("web-perf"), &json!(2)));
    assert_eq!(known["outcomes"], json!({"success": 1, "failure": 0, "partial": 0}));
    assert_eq!((&known["memory_count"], &known["memories"][0]["id"]), (&json!(1), &kept["id"]));
    assert_eq!(known["relations"][0]["skill"], "chrome-tools");
    assert_eq!(known["days"].as_array().unwrap().len(), 1);
    assert_eq!(known["days"][0]["times_used"], 2);
    assert!((known["importance"].as_f64().unwrap() - 0.7).abs() < 1e-3);
    // Without the scope `memories` the list of memories is empty, but their count is included.
    let reader = world.scoped("alice", "skills:read");
    let seen = reader.get("/v1/skills/web-perf/knowledge").await.ok(200);
    assert_eq!((&seen["memories"], &seen["memory_count"]), (&json!([]), &json!(1)));
    alice.get("/v1/skills/nobody/knowledge").await.refused(404, "not-found");
    // A deleted memory does not count any more.
    alice.delete(&format!("/v1/memories/{}", kept["id"].as_str().unwrap())).await.empty(204);
    assert_eq!(alice.get("/v1/skills/web-perf/knowledge").await.ok(200)["memory_count"], 0);
}

#[tokio::test]
async fn a_turn_includes_skills_related_to_its_skills() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["web-perf", "chrome-tools", "far-away"]).await;
    alice.put("/v1/skills/chrome-tools/relations/enables/web-perf", json!(null)).await.empty(201);
    alice.put("/v1/skills/chrome-tools/relations/extends/far-away", json!(null)).await.empty(201);
    let talk = Talk::open(alice, json!({})).await;
    let turn = talk.say("run /web-perf on the shop").await;
    assert_eq!(names(&turn, "active"), ["web-perf"]);
    assert_eq!(turn["related"][0]["name"], "chrome-tools");
    assert_eq!(turn["related"][0]["via"], "web-perf");
    assert_eq!(turn["related"].as_array().unwrap().len(), 1, "one step");
    // A related skill is shown once in a session.
    assert_eq!(talk.say("run /web-perf again").await["related"], json!([]));
}

#[tokio::test]
async fn the_graph_shows_the_neighbours_of_a_node() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["a-a", "b-b", "c-c", "d-d"]).await;
    for (one, kind, other) in [("a-a", "requires", "b-b"), ("b-b", "enables", "c-c"), ("c-c", "extends", "d-d")] {
        alice.put(&format!("/v1/skills/{one}/relations/{kind}/{other}"), json!(null)).await.empty(201);
    }
    remember(alice, "a-a runs at Cloudflare", json!([{"name": "Cloudflare", "kind": "tool"}])).await;
    let around = async |query: &str| {
        let graph = alice.get(&format!("/v1/graph?{query}")).await.ok(200);
        (pluck(&graph["nodes"], "name"), pluck(&graph["edges"], "type"), graph["cut"].clone())
    };
    let (nodes, mut edges, cut) = around("around=a-a").await;
    edges.sort();
    assert_eq!(
        (nodes, edges, cut),
        (
            ["Cloudflare", "a-a", "b-b"].map(String::from).to_vec(),
            ["named_together", "requires"].map(String::from).to_vec(),
            json!(false),
        )
    );
    let (nodes, _, _) = around("around=a-a&depth=2&types=requires,enables").await;
    assert_eq!(nodes, ["a-a", "b-b", "c-c"]);
    let (nodes, _, _) = around("").await;
    assert_eq!(nodes.len(), 5);
    let cloudflare = alice.get("/v1/entities?q=cloudflare").await.ok(200)["items"][0]["id"].clone();
    let (nodes, _, _) = around(&format!("around={}", cloudflare.as_str().unwrap())).await;
    assert_eq!(nodes, ["Cloudflare", "a-a"]);
    bob.get(&format!("/v1/graph?around={}", cloudflare.as_str().unwrap())).await.refused(404, "not-found");
    alice.get("/v1/graph?depth=3").await.refused(400, "malformed");
    alice.get("/v1/graph?types=loves").await.refused(400, "malformed");
    assert_eq!(bob.get("/v1/graph").await.ok(200)["nodes"], json!([]));
}
