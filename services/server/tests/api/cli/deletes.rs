//! Limits on what `knowhow sync --delete` deletes.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use super::faked::{Faked, Given};
use super::syncs::{Synced, document};
use crate::answers::pluck;
use crate::callers::{Caller, World};

/// Returns a folder with `count` skills that the service has too.
fn library(caller: &Caller, count: usize) -> Synced {
    let synced = Synced::new(caller, &[]);
    for number in 0..count {
        synced.write(&format!("s{number}/SKILL.md"), &document(&format!("s{number}"), "x"));
    }
    synced.well(&[]);
    synced
}

#[track_caller]
fn is_kept(told: &Value, count: usize, of: usize, word: &str) {
    let kept = told["skills"].as_array().unwrap().iter().filter(|entry| entry["outcome"] == "kept");
    let reasons: Vec<&str> = kept.map(|entry| entry["reason"].as_str().unwrap()).collect();
    assert_eq!((reasons.len(), told["totals"]["removed"].as_u64()), (count, Some(0)), "{told:#}");
    assert!(reasons.iter().all(|reason| reason.starts_with(&format!("{count} of {of} "))), "{told:#}");
    assert!(reasons.iter().all(|reason| reason.contains("--delete-all") && reason.contains(word)), "{told:#}");
}

#[tokio::test]
async fn a_sync_deletes_at_most_half_of_a_folders_skills_in_the_service() {
    for (gone, of, may) in [
        (1, 1, false),
        (1, 2, true),
        (2, 2, false),
        (1, 3, true),
        (2, 3, false),
        (3, 6, true),
        (4, 6, false),
        (6, 6, false),
    ] {
        let World { alice, .. } = &World::new().await;
        let synced = library(alice, of);
        (0..gone).for_each(|number| synced.remove(&format!("s{number}")));
        for options in [
            &["--delete", "--dry-run"][..],
            &["--push", "--delete", "--dry-run"],
            &["--pull", "--delete", "--dry-run"],
            &["--delete"],
        ] {
            let (told, is_well) = synced.sync(options);
            assert_eq!(is_well, may, "{gone} of {of}: {told}");
            if may {
                assert_eq!(told["totals"]["removed"], gone, "{told}");
            } else {
                is_kept(&told, gone, of, "missing from the folder");
            }
        }
        assert_eq!(alice.names().await.len(), if may { of - gone } else { of });
        // New skills are still sent.
        synced.write("new/SKILL.md", &document("new", "x"));
        synced.sync(&["--delete"]);
        assert!(alice.names().await.contains(&"new".to_owned()));
        let told = synced.well(&["--delete-all"]);
        assert_eq!(told["totals"]["kept"], 0, "{told}");
        assert_eq!(alice.names().await.len(), of - gone + 1);
    }
}

#[tokio::test]
async fn a_sync_removes_at_most_half_of_the_skills_from_the_folder() {
    for (gone, of, may) in [(1, 1, false), (1, 2, true), (2, 3, false), (5, 5, false)] {
        let World { alice, .. } = &World::new().await;
        let synced = library(alice, of);
        for number in 0..gone {
            alice.delete(&format!("/v1/skills/s{number}")).await.empty(204);
        }
        let (told, is_well) = synced.sync(&["--pull", "--delete"]);
        assert_eq!(is_well, may, "{gone} of {of}: {told}");
        if !may {
            is_kept(&told, gone, of, "missing from the service");
            assert!((0..of).all(|number| synced.has(&format!("s{number}/SKILL.md"))));
            assert_eq!(synced.well(&["--pull", "--delete-all"])["totals"]["removed"], gone);
        }
        assert!((0..gone).all(|number| !synced.has(&format!("s{number}"))));
    }
}

#[test]
fn an_empty_list_of_the_service_removes_no_skill() {
    let skills: Vec<Given> = (0..5).map(|number| Given::new(&format!("s{number}"), &["references/a.md"])).collect();
    let faked = Faked::new(skills.clone());
    assert!(faked.run(&["--pull"]).status.success());
    let before = faked.files();
    for left in [0, 1, 2] {
        faked.gives(skills[..left].to_vec());
        let output = faked.run(&["--pull", "--delete"]);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((output.status.code(), faked.files() == before), (Some(1), true), "{out}");
        assert!(out.contains("use --delete-all to remove them from the folder") && out.contains("kept"), "{out}");
    }
    faked.gives(skills[..3].to_vec());
    assert!(faked.run(&["--pull", "--delete"]).status.success());
    assert!(!faked.home.join("s4").exists() && faked.home.join("s0/SKILL.md").exists());
    faked.gives(Vec::new());
    assert!(faked.run(&["--pull", "--delete-all"]).status.success());
    assert!(!faked.home.join("s0").exists());
}

#[tokio::test]
async fn a_missing_or_unreadable_folder_or_state_deletes_no_skill() {
    let World { alice, .. } = &World::new().await;
    let synced = library(alice, 6);
    let all = alice.names().await;
    let away: PathBuf = synced.home.with_extension("away");
    // The folder is first missing and then empty, as if its disk was not mounted.
    std::fs::rename(&synced.home, &away).unwrap();
    for options in [&["--delete"][..], &["--delete-all"], &["--pull", "--delete-all"]] {
        assert!(!synced.run(options).status.success());
    }
    std::fs::create_dir(&synced.home).unwrap();
    for options in [&["--delete"][..], &["--delete-all"], &["--push", "--delete-all"]] {
        synced.sync(options);
        assert_eq!(alice.names().await, all, "{options:?}");
    }
    std::fs::remove_dir_all(&synced.home).unwrap();
    std::fs::rename(&away, &synced.home).unwrap();
    // All skills are gone from the folder, like skills on a disk that is not mounted.
    let state = synced.read(".knowhow-sync");
    for number in 0..6 {
        synced.remove(&format!("s{number}"));
    }
    let (told, is_well) = synced.sync(&["--delete"]);
    assert!(!is_well);
    is_kept(&told, 6, 6, "missing from the folder");
    assert_eq!(synced.read(".knowhow-sync"), state, "it still remembers them");
    // Without a readable state file the sync does not know which skills the folder had.
    for lost in ["", "{", "[]", "{\"of\": 1}", "\0"] {
        synced.write(".knowhow-sync", lost);
        synced.sync(&["--delete-all"]);
        assert_eq!(alice.names().await, all, "{lost:?}");
    }
    std::fs::remove_file(synced.home.join(".knowhow-sync")).unwrap();
    synced.sync(&["--delete-all"]);
    assert_eq!(alice.names().await, all);
    std::fs::remove_file(synced.home.join(".knowhow-sync")).unwrap();
    std::fs::create_dir(synced.home.join(".knowhow-sync")).unwrap();
    assert!(!synced.run(&["--delete-all"]).status.success());
    assert_eq!(alice.names().await, all);
}

#[tokio::test]
async fn skills_below_an_unreadable_folder_do_not_count_as_missing() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let World { alice, .. } = &World::new().await;
    let synced = library(alice, 6);
    let folder = synced.home.join("s0");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o000)).unwrap();
    let told = synced.sync(&["--delete-all"]).0;
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!((told["totals"]["removed"].as_u64(), alice.names().await.len()), (Some(0), 6));
    assert!(!pluck(&told["skills"], "outcome").contains(&"deleted".to_owned()), "{told}");
}
