//! Measures what links of the graph add to recall by words and vectors, in 60 scenes of a user's life with an agent.

use futures_util::StreamExt;
use futures_util::stream::iter;
use serde_json::{Value, json};

use super::remember;
use crate::background::WITH_WORKER;
use crate::callers::{Caller, World};
use crate::service::{Service, poll_async, setting};
use crate::worker::{Ground, world};

const DIALOGUES: &str = include_str!("dialogues.txt");

/// Maximum scenes that are played concurrently.
const AT_ONCE: usize = 6;

/// Number of an answer's first items that are evaluated.
const FIRST: usize = 5;

/// Maximum unwanted items that links add, over all scenes.
const MOST_STRANGE: usize = 12;

/// A scene: a user's skills and memories, a question, and the expected answer.
#[derive(Default)]
struct Scene {
    question: String,
    /// Request bodies that save the memories and skills.
    memories: Vec<Value>,
    skills: Vec<Value>,
    /// Texts of memories and names of skills that the answer should contain.
    wanted: Vec<String>,
}

impl Scene {
    fn parse(text: &str) -> Self {
        let mut scene = Self::default();
        text.lines().for_each(|line| scene.read(line));
        scene
    }

    fn read(&mut self, line: &str) {
        let (mark, rest) = line.split_once(' ').unwrap();
        let key = match mark.trim_end_matches('*') {
            "?" => return rest.clone_into(&mut self.question),
            "+" => return block(rest).lines().skip(1).for_each(|line| self.read(line)),
            "W" => return self.wanted.push(rest.to_owned()),
            "M" => {
                let (content, things) = rest.split_once(" @ ").unwrap();
                let entities: Vec<Value> = things.split("; ").map(|name| json!({"name": name})).collect();
                self.memories.push(json!({"content": content, "entities": entities}));
                content
            }
            "S" => {
                let parts: Vec<&str> = rest.split(" | ").collect();
                let (name, description, body) = (parts[0], parts[1], parts[2]);
                let content = format!("## Procedure\n\n{body}\n");
                self.skills.push(json!({"name": name, "description": description, "content": content}));
                name
            }
            other => panic!("{other}"),
        };
        if mark.ends_with('*') {
            self.wanted.push(key.to_owned());
        }
    }

    async fn play(&self, who: &Caller) {
        for skill in &self.skills {
            who.create(skill.clone()).await;
        }
        for memory in &self.memories {
            remember(who, memory["content"].as_str().unwrap(), memory["entities"].clone()).await;
        }
    }

    /// Asks the question. Returns the wanted items found with and without links, and the unwanted items that links
    /// add.
    async fn ask(&self, who: &Caller) -> Played {
        let path = format!("/v1/recall?q={}&limit={}", self.question.replace(' ', "+"), 2 * FIRST);
        let items = who.get(&path).await.ok(200)["items"].as_array().unwrap().clone();
        let (mut played, mut direct) = (Played::default(), 0);
        for (place, item) in items.iter().enumerate() {
            let name = item["name"].as_str().or(item["content"].as_str()).unwrap().to_owned();
            let (is_wanted, is_linked) =
                (self.wanted.contains(&name), item["reason"].as_str().unwrap().starts_with("linked"));
            let is_first = place < FIRST;
            if is_wanted && is_first {
                played.with.push(name.clone());
            }
            if is_linked && is_first && !is_wanted {
                played.strange.push(name.clone());
            }
            if is_wanted && !is_linked && direct < FIRST {
                played.without.push(name);
            }
            direct += usize::from(!is_linked);
        }
        played
    }
}

/// Returns the lines of a block that several scenes share.
fn block(name: &str) -> &'static str {
    DIALOGUES.split("\n\n").find(|part| part.lines().next() == Some(&format!("= {name}"))).unwrap()
}

/// Wanted items found with and without links, and unwanted items that links add.
#[derive(Default)]
struct Played {
    with: Vec<String>,
    without: Vec<String>,
    strange: Vec<String>,
}

/// Waits for jobs and vectors. The server makes vectors immediately, or a worker makes them later.
async fn until_read(ground: &Ground, scenes: &[Scene], has_model: bool) {
    ground.idle();
    let memories: usize = scenes.iter().map(|scene| scene.memories.len()).sum();
    let skills: usize = scenes.iter().map(|scene| scene.skills.len()).sum();
    let are_embedded = async || {
        let is_there = |table: &str, count: usize| ground.count(table) == count as u64;
        (!has_model || is_there("skill_embeddings", skills) && is_there("memory_embeddings", memories)).then_some(())
    };
    poll_async("vectors", are_embedded).await;
}

fn report(played: &[Played], scenes: &[Scene]) -> [usize; 4] {
    let sum = |count: fn(&Played) -> usize| played.iter().map(count).sum();
    let wanted = scenes.iter().map(|scene| scene.wanted.len()).sum();
    let (with, without) = (sum(|played| played.with.len()), sum(|played| played.without.len()));
    let strange = sum(|played| played.strange.len());
    for (played, scene) in played.iter().zip(scenes) {
        let missing: Vec<_> = scene.wanted.iter().filter(|name| !played.with.contains(name)).collect();
        if !missing.is_empty() || !played.strange.is_empty() {
            println!("{}: misses {missing:?}, strange {:?}", scene.question, played.strange);
        }
    }
    println!(
        "dialogues: of {wanted} wanted, {without} are found without the hop and {with} with it, which brings {strange} others to \
         {} questions",
        scenes.len()
    );
    [wanted, without, with, strange]
}

#[tokio::test]
async fn links_of_the_graph_find_what_words_and_vectors_do_not() {
    let scenes: Vec<Scene> = DIALOGUES
        .split("\n\n")
        .filter(|part| part.starts_with('?'))
        .map(|part| Scene::parse(part.trim_end()))
        .collect();
    assert_eq!(scenes.len(), 60);
    let ground = Ground::new();
    let (login, folder) = (ground.login(), setting("KNOWHOW_TEST_MODEL_DIR"));
    let mut settings = vec![("KNOWHOW_DATABASE_URL", login.as_str()), WITH_WORKER];
    if let Some(folder) = &folder {
        settings.extend([("KNOWHOW_MODEL_DIR", folder.as_str()), ("KNOWHOW_EMBEDDINGS_TIMEOUT_MS", "60000")]);
    }
    let service = Service::start(&settings);
    let world: World = world(&service).await;
    let users: Vec<Caller> =
        (0..scenes.len()).map(|n| world.scoped(&format!("user-{n}"), "skills:read skills:write memories")).collect();
    iter(scenes.iter().zip(&users)).for_each_concurrent(AT_ONCE, |(scene, who)| scene.play(who)).await;
    until_read(&ground, &scenes, folder.is_some()).await;
    let played: Vec<Played> =
        iter(scenes.iter().zip(&users)).map(|(scene, who)| scene.ask(who)).buffered(AT_ONCE).collect().await;
    let [_, without, with, strange] = report(&played, &scenes);
    for (played, scene) in played.iter().zip(&scenes) {
        assert!(played.without.iter().all(|name| played.with.contains(name)), "lost: {}", scene.question);
    }
    assert!(with > without, "{with} with the hop, {without} without");
    assert!(strange <= MOST_STRANGE, "{strange}");
}
