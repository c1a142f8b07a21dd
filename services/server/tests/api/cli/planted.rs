//! Links and pipes that someone has placed where commands write files.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use super::faked::read_all;
use super::syncs::{Synced, document};
use crate::callers::{Caller, World};
use crate::service::{run, scratch, shared};

/// A home folder with files that no command may change.
struct Victim {
    home: PathBuf,
}

impl Victim {
    fn new() -> Self {
        let home = scratch("victim");
        for folder in ["empty", "skill/references"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in [".bashrc", "skill/SKILL.md", "skill/references/a.md"] {
            std::fs::write(home.join(file), "precious").unwrap();
        }
        Self { home }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        read_all(&self.home, "", &mut files);
        files
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Names of unfinished files, of this version and of older ones.
const PARTS: [&str; 4] = [".SKILL.md.knowhow-part", ".knowhow-sync-part-", ".a.md.knowhow-part", ".knowhow-part-"];

/// Returns a folder with the skill `s`, whose text and file are newer in the service.
async fn behind(alice: &Caller) -> Synced {
    let synced = Synced::new(alice, &[("s/SKILL.md", &document("s", "old")), ("s/references/a.md", "old")]);
    synced.well(&[]);
    alice.replace("s", "old", "new").await.ok(200);
    let put = alice.send(reqwest::Method::PUT, "/v1/skills/s/resources/references/a.md");
    put.body("text/markdown", "new").await.ok(200);
    synced
}

fn replace_with_link(path: &Path, target: &Path) {
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    symlink(target, path).unwrap();
}

#[tokio::test]
async fn a_pull_does_not_write_through_links() {
    let World { alice, .. } = &World::new().await;
    let victim = Victim::new();
    let before = victim.files();
    let synced = behind(alice).await;
    // Each link is placed in a copy of the folder.
    let links = [
        ("s/SKILL.md", ".bashrc"),
        ("s/references/a.md", ".bashrc"),
        ("s/references", "empty"),
        ("s/references", "skill/references"),
        ("s", "empty"),
        ("s", "skill"),
        ("s/SKILL.md.conflict-3", ".bashrc"),
        ("s/references/a.md.conflict-3", ".bashrc"),
        (".knowhow-sync", ".bashrc"),
        (".knowhow-sync.lock", ".bashrc"),
        (".knowhow-sync.lock", "no-such-file"),
        (".knowhow-sync", "no-such-file"),
    ];
    for (link, target) in links {
        for options in [&["--pull"][..], &["--pull", "--delete-all"]] {
            let copy = Synced { home: scratch("planted"), caller: alice.clone() };
            let made = Command::new("cp").arg("-a").args([&synced.home, &copy.home]).status().unwrap();
            assert!(made.success());
            // The copy has a change too, so the pull keeps that text in a conflict file.
            copy.write("s/SKILL.md", &document("s", "mine"));
            replace_with_link(&copy.home.join(link), &victim.path(target));
            let output = copy.run(options);
            assert!(victim.files() == before, "{link} -> {target}: {}", said(&output));
            if link.starts_with(".knowhow") {
                assert!(!output.status.success() && said(&output).contains("is a link"), "{link}: {}", said(&output));
            }
        }
    }
}

#[tokio::test]
async fn a_new_skill_is_not_written_through_a_link() {
    let World { alice, .. } = &World::new().await;
    let victim = Victim::new();
    let before = victim.files();
    let one = Synced::new(alice, &[("team/good/SKILL.md", &document("good", "g")), ("team/good/references/a.md", "a")]);
    one.well(&["--prefix", "x"]);
    let name = alice.names().await.remove(0);
    for (link, target) in
        [("good", "empty"), ("good", "skill"), ("good/references", "empty"), ("good/SKILL.md", ".bashrc")]
    {
        let two = Synced::new(alice, &[]);
        let path = two.home.join(name.trim_start_matches("x/").trim_end_matches("good")).join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        replace_with_link(&path, &victim.path(target));
        let output = two.run(&["--prefix", "x", "--pull"]);
        assert!(victim.files() == before, "{link} -> {target}: {}", said(&output));
        assert!(!output.status.success() && said(&output).contains("link"), "{link}: {}", said(&output));
    }
    // Links inside the folder are refused too, for example to the hooks of a checkout.
    let two = Synced::new(alice, &[(".git/hooks/x.sample", "")]);
    let path = two.home.join(name.trim_start_matches("x/"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    replace_with_link(&path, &two.home.join(".git/hooks"));
    assert!(!two.run(&["--prefix", "x", "--pull"]).status.success());
    assert!(!two.has(".git/hooks/SKILL.md"));
}

#[tokio::test]
async fn links_with_names_of_unfinished_files_are_not_followed() {
    let World { alice, .. } = &World::new().await;
    let victim = Victim::new();
    let before = victim.files();
    let synced = behind(alice).await;
    for (folder, part) in ["s", "s/references", ""].into_iter().flat_map(|folder| PARTS.map(|part| (folder, part))) {
        replace_with_link(&synced.home.join(folder).join(part), &victim.path(".bashrc"));
    }
    symlink(victim.path(".bashrc"), synced.home.join("..knowhow-sync.knowhow-part")).unwrap();
    let told = synced.well(&["--pull"]);
    assert_eq!(told["totals"]["reconciled"], 1, "{told}");
    assert!(synced.read("s/SKILL.md").contains("new") && victim.files() == before);
    let left: Vec<String> = std::fs::read_dir(synced.home.join("s"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".knowhow-sync-part-") && *name != ".knowhow-sync-part-")
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test]
async fn a_removal_does_not_follow_links() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("s/SKILL.md", &document("s", "x")), ("s/references/a.md", "a")]);
    synced.write("other/SKILL.md", &document("other", "x"));
    synced.well(&[]);
    alice.delete("/v1/skills/s").await.empty(204);
    // The same files are reached through a link that agents follow.
    let elsewhere = scratch("elsewhere");
    std::fs::rename(synced.home.join("s"), &elsewhere).unwrap();
    std::fs::create_dir(synced.home.join("skills")).unwrap();
    symlink(&elsewhere, synced.home.join("skills/s")).unwrap();
    let output = synced.run(&["--pull", "--delete"]);
    assert!(!output.status.success() && said(&output).contains("refused"), "{}", said(&output));
    assert!(elsewhere.join("SKILL.md").exists() && elsewhere.join("references/a.md").exists());
}

#[tokio::test]
async fn pipes_do_not_hang_a_sync() {
    let World { alice, .. } = &World::new().await;
    for path in [".knowhow-sync", ".knowhow-sync.lock", "s/SKILL.md", "s/references/a.md"] {
        let synced = behind(alice).await;
        std::fs::remove_file(synced.home.join(path)).ok();
        assert!(Command::new("mkfifo").arg(synced.home.join(path)).status().unwrap().success());
        let output = synced.run(&["--pull"]);
        assert!(said(&output).contains("not a regular file"), "{path}: {}", said(&output));
        alice.delete("/v1/skills/s").await.empty(204);
    }
}

#[tokio::test]
async fn a_hard_link_is_replaced_and_its_other_name_keeps_its_text() {
    let World { alice, .. } = &World::new().await;
    let victim = Victim::new();
    let synced = behind(alice).await;
    std::fs::hard_link(synced.home.join("s/SKILL.md"), victim.path("other-name")).unwrap();
    std::fs::remove_file(synced.home.join(".knowhow-sync.lock")).unwrap();
    std::fs::hard_link(victim.path(".bashrc"), synced.home.join(".knowhow-sync.lock")).unwrap();
    synced.well(&["--pull"]);
    assert!(std::fs::read_to_string(victim.path("other-name")).unwrap().contains("old"));
    assert_eq!(std::fs::read(victim.path(".bashrc")).unwrap(), b"precious");
}

#[tokio::test]
async fn outputs_of_exports_do_not_follow_links() {
    let World { alice, admin, .. } = &World::new().await;
    alice.create_all(&["mine"]).await;
    let victim = Victim::new();
    let before = victim.files();
    let with = |caller: &Caller, arguments: &[&str]| {
        let remote = ["--url", &shared().url, "--token", caller.token.as_deref().unwrap()];
        run(&[arguments, &remote].concat())
    };
    let commands: [(&Caller, &[&str]); 3] =
        [(alice, &["export"]), (admin, &["admin", "export-user", "alice"]), (admin, &["admin", "audit"])];
    for (caller, command) in commands {
        let (command, rest) = command.split_at(if command[0] == "admin" { 2 } else { 1 });
        let folder = scratch("outputs");
        std::fs::create_dir(&folder).unwrap();
        let output = folder.join("out.zip");
        let send = |path: &Path| match command {
            ["admin", verb] => {
                let remote = ["--url", &shared().url, "--token", caller.token.as_deref().unwrap()];
                run(&[&["admin"][..], &remote, &[verb], rest, &["-o", path.to_str().unwrap()]].concat())
            }
            _ => with(caller, &[command, rest, &["-o", path.to_str().unwrap()]].concat()),
        };
        // A link with the name of an unfinished file of older versions is not used.
        symlink(victim.path(".bashrc"), folder.join(".out.zip.knowhow-part")).unwrap();
        let done = send(&output);
        assert!(done.status.success(), "{command:?}: {}", said(&done));
        assert!(output.metadata().unwrap().len() > 0 && victim.files() == before);
        // An output path that is a link is refused, regardless of its target.
        for target in [".bashrc", "no-such-file", "empty"] {
            replace_with_link(&output, &victim.path(target));
            let refused = send(&output);
            assert!(!refused.status.success() && said(&refused).contains("is a link"), "{}", said(&refused));
            assert!(victim.files() == before && output.is_symlink());
            std::fs::remove_file(&output).unwrap();
        }
        // An output that is not a regular file is refused too.
        for special in ["/dev/null", folder.to_str().unwrap()] {
            let refused = send(Path::new(special));
            assert!(!refused.status.success() && said(&refused).contains("not a regular file"), "{}", said(&refused));
        }
        assert!(!std::fs::symlink_metadata("/dev/null").unwrap().is_file());
        // An existing file keeps its permissions, without the set-user-ID bit.
        std::fs::write(&output, "earlier").unwrap();
        std::fs::set_permissions(&output, PermissionsExt::from_mode(0o4600)).unwrap();
        assert!(send(&output).status.success());
        assert_eq!(output.metadata().unwrap().mode() & 0o7777, 0o600);
        // A link above the file is followed, because the user gave that path.
        let through = folder.join("through");
        symlink(&folder, &through).unwrap();
        assert!(send(&through.join("other.zip")).status.success() && folder.join("other.zip").exists());
        let names = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(names, 4, "no unfinished file is left");
    }
}

#[tokio::test]
async fn hidden_files_are_neither_sent_nor_accepted() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("s/SKILL.md", &document("s", "x")), ("s/references/a.md", "a")]);
    for path in ["s/.env", "s/.git/hooks/x", "s/references/.ssh/id", "s/scripts/.cache/y"] {
        synced.write(path, "hidden");
    }
    let told = synced.well(&[]);
    let left = told["left_out"].as_array().unwrap();
    for path in ["s/.env", "s/references/.ssh", "s/scripts/.cache"] {
        let shown = synced.home.join(path).display().to_string();
        assert!(left.iter().any(|file| file["path"] == shown.as_str()), "{path}: {told}");
    }
    let resources = alice.peek("s").await["resources"].take();
    assert_eq!(resources.as_array().unwrap().len(), 1, "{resources}");
    for path in
        ["references/.env", "references/.ssh/id", "references/con.md", "references/git~1", "references/a\u{2215}b"]
    {
        let url = format!("/v1/skills/s/resources/{}", path.replace('\u{2215}', "%E2%88%95"));
        alice.send(reqwest::Method::PUT, &url).body("text/markdown", "x").await.refused(422, "invalid");
    }
    alice.post("/v1/skills", json!({"name": "con", "description": "d", "content": "c"})).await.refused(422, "invalid");
}
