//! `knowhow sync` with a running service, between a folder and a user's skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::reviewing::{ATTACK, decide};
use crate::service::{knowhow, run, scratch, shared};
use crate::talk::Talk;

/// A folder that is synced with a caller's skills.
pub struct Synced {
    pub home: PathBuf,
    pub caller: Caller,
}

impl Synced {
    pub fn new(caller: &Caller, files: &[(&str, &str)]) -> Self {
        let synced = Self { home: scratch("sync"), caller: caller.clone() };
        std::fs::create_dir_all(&synced.home).unwrap();
        files.iter().for_each(|(path, text)| synced.write(path, text));
        synced
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.home.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.home.join(path)).unwrap()
    }

    pub fn has(&self, path: &str) -> bool {
        self.home.join(path).exists()
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_dir_all(self.home.join(path)).unwrap();
    }

    /// Returns the arguments of the command.
    fn command<'a>(&'a self, url: &'a str, options: &[&'a str]) -> Vec<&'a str> {
        let fixed =
            ["sync", self.home.to_str().unwrap(), "--url", url, "--token", self.caller.token.as_deref().unwrap()];
        [&fixed[..], options].concat()
    }

    pub fn run(&self, options: &[&str]) -> Output {
        run(&self.command(&shared().url, options))
    }

    /// Runs a sync, and returns its JSON output and whether it succeeded.
    pub fn sync(&self, options: &[&str]) -> (Value, bool) {
        let output = self.run(&[&["--json"], options].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
        (told, output.status.success())
    }

    /// Runs a sync that must succeed, and returns its JSON output.
    #[track_caller]
    pub fn well(&self, options: &[&str]) -> Value {
        let (told, is_well) = self.sync(options);
        assert!(is_well, "{told}");
        told
    }

    /// Returns all files below the folder, except those that `sync` keeps for itself.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        read_all(&self.home, "", &mut files);
        files.retain(|path, _| !path.starts_with(".knowhow-sync"));
        files
    }
}

fn read_all(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_all(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, std::fs::read(entry.path()).unwrap());
        }
    }
}

pub fn document(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use when asked.\n---\n{body}\n")
}

#[track_caller]
pub(super) fn done(told: &Value, indexed: u64, reconciled: u64, removed: u64) {
    let totals = &told["totals"];
    let found = ["indexed", "reconciled", "removed"].map(|name| totals[name].as_u64().unwrap());
    assert_eq!(found, [indexed, reconciled, removed], "{told:#}");
}

/// Returns the outcome of each skill that differs between the two sides.
pub(super) fn outcomes(told: &Value) -> Vec<(String, String)> {
    let of = |member: &str| pluck(&told["skills"], member);
    of("name").into_iter().zip(of("outcome")).collect()
}

pub(super) fn is(name: &str, outcome: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), outcome.to_owned())]
}

pub(super) async fn raw(caller: &Caller, name: &str) -> String {
    caller.get(&format!("/v1/skills/{}/SKILL.md", name.replace('/', "%2F"))).await.text()
}

#[tokio::test]
async fn a_folder_is_sent_and_afterwards_only_its_changes() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(
        alice,
        &[
            ("one/SKILL.md", &document("one", "1")),
            ("one/references/a.md", "a"),
            ("mcp/two/SKILL.md", &document("two", "2")),
            ("README.md", "of the folder"),
        ],
    );
    let told = synced.well(&[]);
    done(&told, 2, 2, 0);
    assert_eq!(alice.names().await, ["mcp/two", "one"]);
    let one = alice.peek("one").await;
    assert_eq!((&one["source"], &one["version"]), (&json!("sync"), &json!(1)));
    let versions = alice.get("/v1/skills/one/versions").await.ok(200);
    assert_eq!(versions["items"][0]["change"], "sync");
    done(&synced.well(&[]), 2, 0, 0);
    synced.write("one/references/a.md", "b");
    let told = synced.well(&[]);
    done(&told, 2, 1, 0);
    assert_eq!(outcomes(&told), is("one", "updated"));
    assert_eq!(alice.get("/v1/skills/one/resources/references/a.md").await.text(), "b");
    assert_eq!((&alice.peek("one").await["version"], &alice.peek("mcp/two").await["version"]), (&json!(2), &json!(1)));
    std::fs::remove_file(synced.home.join("one/references/a.md")).unwrap();
    done(&synced.well(&[]), 2, 1, 0);
    assert_eq!(alice.peek("one").await["resources"], json!([]), "also where nothing but SKILL.md is left");
    let said = String::from_utf8(synced.run(&[]).stdout).unwrap();
    assert_eq!(said, "2 indexed, 0 reconciled, 0 removed\n");
}

#[tokio::test]
async fn removed_skills_are_deleted_only_on_request() {
    let World { alice, .. } = &World::new().await;
    let texts = ["a", "b"].map(|name| (format!("{name}/SKILL.md"), document(name, "1")));
    let synced = Synced::new(alice, &texts.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    synced.well(&[]);
    synced.remove("a");
    let told = synced.well(&[]);
    assert_eq!(outcomes(&told), is("a", "missing"), "{told}");
    assert!(told["skills"][0]["reason"].as_str().unwrap().contains("--delete"), "{told}");
    assert_eq!(alice.names().await, ["a", "b"]);
    let told = synced.well(&["--delete"]);
    done(&told, 1, 0, 1);
    assert_eq!(outcomes(&told), is("a", "deleted"));
    assert_eq!(alice.names().await, ["b"]);
    // A skill that cannot be read is not deleted.
    synced.write("b/SKILL.md", "no frontmatter");
    let (told, is_well) = synced.sync(&["--delete"]);
    assert!(!is_well && told["totals"]["refused"] == 1, "{told}");
    std::fs::remove_file(synced.home.join("b/SKILL.md")).unwrap();
    std::os::unix::fs::symlink("/no/such/file", synced.home.join("b/SKILL.md")).unwrap();
    done(&synced.well(&["--delete"]), 0, 0, 0);
    assert_eq!(alice.names().await, ["b"]);
    alice.put("/v1/skills/b/fields", json!({"pinned": true})).await.ok(200);
    synced.remove("b");
    let (told, is_well) = synced.sync(&["--delete-all"]);
    assert!(!is_well && told["skills"][0]["reason"].as_str().unwrap().contains("is pinned"), "{told}");
}

#[tokio::test]
async fn skills_of_another_source_are_not_changed() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mine", "other"]).await;
    let before = raw(alice, "mine").await;
    let synced = Synced::new(
        alice,
        &[("mine/SKILL.md", &document("mine", "x")), ("other/SKILL.md", &raw(alice, "other").await)],
    );
    synced.write("new/SKILL.md", &document("new", "x"));
    for options in [&["--dry-run"][..], &["--push", "--delete"], &["--pull", "--delete"], &[]] {
        let (told, is_well) = synced.sync(options);
        assert!(!is_well && told["totals"]["refused"] == 2, "{options:?}: {told}");
        let refused = told["skills"].as_array().unwrap().iter().find(|entry| entry["outcome"] == "refused").unwrap();
        assert!(refused["reason"].as_str().unwrap().contains("rename the folder"), "{told}");
    }
    assert_eq!(raw(alice, "mine").await, before);
    synced.remove("mine");
    synced.remove("other");
    synced.well(&["--push", "--delete"]);
    assert_eq!(alice.names().await, ["mine", "new", "other"]);
    assert_eq!(alice.peek("mine").await["version"], 1);
}

#[tokio::test]
async fn skills_new_in_the_service_are_written_with_their_files() {
    let World { alice, .. } = &World::new().await;
    let text = "---\nname: email\ndescription: Mails\n---\r\nBody with \u{e9}, and no end of line";
    let one = Synced::new(alice, &[("mcp/email/SKILL.md", text), ("mcp/email/scripts/send it.sh", "#!/bin/sh\n")]);
    one.write("skills/skills/deep/SKILL.md", &document("deep", "d"));
    one.write("plain/SKILL.md", &document("plain", "p"));
    one.well(&[]);
    alice.create_all(&["not-of-a-folder"]).await;
    let two = Synced::new(alice, &[]);
    let told = two.well(&[]);
    assert_eq!((&told["totals"]["behind"], two.has("mcp")), (&json!(3), false), "{told}");
    done(&two.well(&["--pull"]), 0, 3, 0);
    assert_eq!(two.read("mcp/email/SKILL.md"), text);
    assert_eq!(two.read("mcp/email/scripts/send it.sh"), "#!/bin/sh\n");
    assert!(!two.has("not-of-a-folder"));
    done(&two.well(&["--pull"]), 3, 0, 0);
    // A changed file or executable bit in one folder is synced to the other folder. This includes files other than
    // SKILL.md.
    one.write("mcp/email/scripts/send it.sh", "#!/bin/bash\n");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(one.home.join("mcp/email/scripts/send it.sh"), permissions).unwrap();
    one.write("mcp/email/references/new.md", "n");
    one.well(&[]);
    done(&two.well(&["--pull"]), 3, 1, 0);
    assert_eq!(two.files()["mcp/email/references/new.md"], b"n");
    assert_eq!(two.read("mcp/email/scripts/send it.sh"), "#!/bin/bash\n");
    let script = two.home.join("mcp/email/scripts/send it.sh");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&script).unwrap().permissions());
    assert_eq!(mode & 0o100, 0o100);
    one.remove("mcp/email/references");
    one.remove("plain");
    one.well(&["--delete"]);
    let told = two.well(&["--pull"]);
    assert_eq!(outcomes(&told), [is("mcp/email", "written"), is("plain", "gone")].concat());
    assert!(!two.has("mcp/email/references/new.md") && two.has("plain/SKILL.md"));
    done(&two.well(&["--pull", "--delete"]), 3, 0, 1);
    assert!(!two.has("plain"), "its folder is empty and goes too");
    assert_eq!(two.read("mcp/email/SKILL.md"), text);
}

#[tokio::test]
async fn a_dry_run_changes_neither_side() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "1")), ("b/SKILL.md", &document("b", "1"))]);
    done(&synced.well(&["--dry-run"]), 2, 2, 0);
    assert_eq!(std::fs::read_dir(&synced.home).unwrap().count(), 2, "no file of ours");
    assert!(alice.names().await.is_empty());
    let other = Synced::new(alice, &[("c/SKILL.md", &document("c", "1"))]);
    other.well(&[]);
    synced.well(&[]);
    synced.remove("a");
    synced.write("b/SKILL.md", &document("b", "2"));
    let (before, state) = (synced.files(), synced.read(".knowhow-sync"));
    let told = synced.well(&["--dry-run", "--pull", "--delete"]);
    done(&told, 1, 2, 1);
    assert_eq!(outcomes(&told), [is("a", "deleted"), is("b", "updated"), is("c", "written")].concat());
    assert!(synced.files() == before && synced.read(".knowhow-sync") == state);
    assert_eq!(alice.names().await, ["a", "b", "c"]);
    assert_eq!(alice.peek("b").await["version"], 1);
    let said = String::from_utf8(synced.run(&["--dry-run"]).stdout).unwrap();
    assert!(said.contains("would be: 1 indexed, 1 reconciled, 0 removed, 1 behind, 1 missing"), "{said}");
}

#[tokio::test]
async fn links_hidden_folders_and_clashes_are_treated_as_in_an_import() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(
        alice,
        &[
            (".claude/skills/hidden/SKILL.md", &document("hidden", "h")),
            (".git/skills/tool/SKILL.md", &document("tool", "t")),
            (".archive/old/SKILL.md", &document("old", "o")),
            ("clash/SKILL.md", &document("clash", "c")),
            ("clash/references/A.md", "1"),
            ("clash/references/a.md", "2"),
            ("one/skills/twice/SKILL.md", &document("twice", "t")),
            ("two/skills/twice/SKILL.md", &document("twice", "t")),
        ],
    );
    let elsewhere = Synced::new(alice, &[("linked/SKILL.md", &document("linked", "as it was")), ("secret.md", "s")]);
    let link = |target: &Path, path: &str| std::os::unix::fs::symlink(target, synced.home.join(path)).unwrap();
    link(&elsewhere.home.join("linked"), ".claude/skills/linked");
    link(&elsewhere.home.join("secret.md"), ".claude/skills/hidden/secret.md");
    link(&synced.home, "again");
    let (told, is_well) = synced.sync(&[]);
    assert!(!is_well, "{told}");
    assert_eq!(alice.names().await, ["hidden", "linked", "twice"]);
    assert_eq!(alice.peek("hidden").await["resources"], json!([]));
    let refused = told["skills"].as_array().unwrap().iter().find(|entry| entry["outcome"] == "refused").unwrap();
    assert_eq!(refused["name"], "clash", "{told}");
    assert_eq!((&told["totals"]["duplicate"], &told["totals"]["refused"]), (&json!(1), &json!(1)));
    let left = pluck(&told["left_out"], "path");
    for path in [".archive", "again", ".claude/skills/hidden/secret.md"] {
        assert!(left.contains(&synced.home.join(path).display().to_string()), "{path}: {left:?}");
    }
    // A newer text is not written through a link.
    alice.replace("linked", "as it was", "newer").await.ok(200);
    let put = alice.send(reqwest::Method::PUT, "/v1/skills/hidden/resources/references/x.md");
    put.body("text/markdown", "x").await.ok(200);
    link(&elsewhere.home, ".claude/skills/hidden/references");
    let (told, _) = synced.sync(&["--pull"]);
    assert!(elsewhere.read("linked/SKILL.md").contains("as it was"), "{told}");
    assert!(!elsewhere.has("x.md") && told["totals"]["refused"] == 3, "{told}");
    let refused = told["skills"].as_array().unwrap().iter().filter(|entry| entry["outcome"] == "refused");
    let behind_links = refused.filter(|entry| entry["reason"].as_str().unwrap().contains("a link or file is in"));
    assert_eq!(behind_links.count(), 2, "{told}");
}

#[tokio::test]
async fn a_prefix_separates_folders() {
    let World { alice, .. } = &World::new().await;
    let team = Synced::new(alice, &[("a/SKILL.md", &document("a", "team"))]);
    let own = Synced::new(alice, &[("a/SKILL.md", &document("a", "own"))]);
    team.well(&["--prefix", "team"]);
    done(&own.well(&["--prefix", "own", "--pull", "--delete"]), 1, 1, 0);
    assert_eq!(alice.names().await, ["own/a", "team/a"]);
    let copy = Synced::new(alice, &[]);
    done(&copy.well(&["--prefix", "team", "--pull"]), 0, 1, 0);
    assert_eq!(copy.files().into_keys().collect::<Vec<_>>(), ["a/SKILL.md"]);
    done(&copy.well(&["--prefix", "team", "--pull"]), 1, 0, 0);
}

#[tokio::test]
async fn tainted_skills_are_not_written_to_folders() {
    let World { alice, .. } = &World::unreviewed().await;
    let one = Synced::new(alice, &[("t/SKILL.md", &document("t", "as it was"))]);
    one.well(&[]);
    let talk = Talk::tainted(alice).await;
    let edit = json!({"edits": [{"old_string": "as it was", "new_string": "read on a page"}]});
    alice.patch("/v1/skills/t", edit).header("Knowhow-Session", &talk.id).await.ok(200);
    let two = Synced::new(alice, &[]);
    let (told, is_well) = two.sync(&["--pull"]);
    assert!(!is_well && told.to_string().contains("it is tainted"), "{told}");
    assert!(!two.has("t"));
}

#[tokio::test]
async fn wrong_arguments_of_sync_are_reported() {
    let World { alice, read_only, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "1"))]);
    let said = |output: Output| {
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
    };
    assert!(said(synced.run(&["--pull", "--push"])).contains("cannot be used with"));
    assert!(said(synced.run(&["--watch", "--dry-run"])).contains("cannot be used with"));
    let nowhere = Synced { home: synced.home.join("nowhere"), caller: alice.clone() };
    assert!(said(nowhere.run(&[])).contains("is not a folder"));
    let file = Synced { home: synced.home.join("a/SKILL.md"), caller: alice.clone() };
    assert!(said(file.run(&["--dry-run"])).contains("is not a folder"));
    let reader = Synced { home: synced.home.clone(), caller: read_only.clone() };
    let refused = said(reader.run(&[]));
    assert!(refused.contains("stopped   403") && refused.contains("1 not sent"), "{refused}");
    let home = synced.home.to_str().unwrap();
    let away = said(run(&["sync", home, "--url", "http://127.0.0.1:1", "--token", "x"]));
    assert!(away.contains("cannot be reached"), "{away}");
}

/// Starts a sync in the background.
pub fn spawn(synced: &Synced, url: &str, options: &[&str]) -> Child {
    let mut command = knowhow(&synced.command(url, options));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[tokio::test]
async fn a_change_that_waits_for_review_is_reported() {
    let World { alice, admin, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("bad/SKILL.md", &document("bad", ATTACK))]);
    synced.write("good/SKILL.md", &document("good", "b"));
    let told = synced.well(&[]);
    assert_eq!(outcomes(&told), [is("bad", "waiting"), is("good", "created")].concat());
    assert_eq!(alice.names().await, ["good"]);
    let waiting = alice.get("/v1/submissions").await.ok(200);
    assert_eq!((&waiting["items"][0]["kind"], waiting["items"].as_array().unwrap().len()), (&json!("sync"), 1));
    synced.well(&[]);
    assert_eq!(alice.get("/v1/submissions").await.ok(200)["items"].as_array().unwrap().len(), 1);
    decide(admin, &waiting["items"][0], "approve", json!({})).await.ok(200);
    done(&synced.well(&[]), 2, 0, 0);
    assert_eq!(alice.peek("bad").await["source"], "sync");
    assert_eq!(alice.get("/v1/skills/bad/versions").await.ok(200)["items"][0]["change"], "sync");
}

#[tokio::test]
async fn a_sync_ignores_skills_that_were_not_synced() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("note")).await;
    let synced = Synced::new(alice, &[]);
    done(&synced.well(&["--pull", "--delete"]), 0, 0, 0);
    assert!(synced.files().is_empty());
    assert_eq!(alice.names().await, ["note"]);
}
