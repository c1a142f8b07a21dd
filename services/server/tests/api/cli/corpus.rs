//! Sample skills are imported and synced with the command line, and exported byte for byte.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use knowhow_domain::skills::name::RESERVED;
use knowhow_testing::CorpusFolder;
use ruzstd::decoding::StreamingDecoder;

use crate::callers::{Caller, World};
use crate::exchange::unzip;
use crate::service::{run, scratch, shared};

type Files = BTreeMap<String, Vec<u8>>;

/// Unpacks the samples into a scratch folder. Prints a line and returns `None` if the samples are missing.
fn unpack() -> Option<PathBuf> {
    let file = std::fs::File::open(CorpusFolder::find().file("sample-skills.tar.zst")?).unwrap();
    let folder = scratch("samples");
    tar::Archive::new(StreamingDecoder::new(BufReader::new(file)).unwrap()).unpack(&folder).unwrap();
    Some(folder)
}

fn read(folder: &Path, prefix: &str, files: &mut Files) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read(&entry.path(), &format!("{name}/"), files);
        } else {
            let mut bytes = Vec::new();
            std::fs::File::open(entry.path()).unwrap().read_to_end(&mut bytes).unwrap();
            files.insert(name, bytes);
        }
    }
}

fn command(name: &str, source: &[&str], caller: &Caller) -> String {
    let remote = ["--url", &shared().url, "--token", caller.token.as_deref().unwrap()];
    let output = run(&[&[name][..], source, &remote].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{said}");
    printed
}

/// Returns the files of each skill by the path of its folder. Paths of files are relative to that folder.
fn skills_of(files: &Files) -> BTreeMap<String, Files> {
    let homes: Vec<&str> = files.keys().filter_map(|path| path.strip_suffix("/SKILL.md")).collect();
    let mut skills: BTreeMap<String, Files> = BTreeMap::new();
    for (path, bytes) in files {
        let home = homes.iter().filter(|home| path.starts_with(&format!("{home}/"))).max_by_key(|home| home.len());
        let Some(home) = home else { continue };
        let name = (*home).to_owned();
        skills.entry(name).or_default().insert(path[home.len() + 1..].to_owned(), bytes.clone());
    }
    skills
}

#[tokio::test]
async fn three_hundred_skills_are_imported_and_exported() {
    let Some(folder) = unpack() else { return };
    let World { alice, bob, .. } = &World::unreviewed().await;
    let mut files = Files::new();
    read(&folder, "", &mut files);
    let source = skills_of(&files);
    let count = source.len();
    assert!(count >= if CorpusFolder::find().is_sample { 98 } else { 300 }, "{count}");
    let said = command("import", &[folder.to_str().unwrap()], alice);
    assert!(said.ends_with(&format!("{count} created, 0 updated, 0 unchanged, 0 refused\n")), "{said}");
    let archive = scratch("skills.zip");
    command("export", &["--output", archive.to_str().unwrap()], alice);
    let exported: Files = unzip(&std::fs::read(&archive).unwrap()).into_iter().collect();
    let contents = |skills: BTreeMap<String, Files>| {
        let mut all: Vec<Files> = skills.into_values().collect();
        all.sort();
        all
    };
    assert_eq!(skills_of(&exported).len(), count);
    assert!(contents(skills_of(&exported)) == contents(source), "what came out is not what went in");
    load_each(alice, &exported).await;
    let said = command("import", &[folder.to_str().unwrap()], alice);
    assert_eq!(said, format!("0 created, 0 updated, {count} unchanged, 0 refused\n"));
    command("import", &[archive.to_str().unwrap()], bob);
    let again = scratch("again.zip");
    command("export", &["--output", again.to_str().unwrap()], bob);
    assert!(std::fs::read(&again).unwrap() == std::fs::read(&archive).unwrap(), "the copy differs");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn three_hundred_skills_are_synced() {
    let Some(one) = unpack() else { return };
    let World { alice, .. } = &World::unreviewed().await;
    let two = scratch("copy");
    std::fs::create_dir_all(&two).unwrap();
    let skills = |folder: &Path| {
        let mut files = Files::new();
        read(folder, "", &mut files);
        skills_of(&files)
    };
    // Removes skills with reserved names, which a sync refuses. Other tests cover these names.
    for reserved in skills(&one).keys().filter(|home| RESERVED.iter().any(|name| Path::new(home).ends_with(name))) {
        std::fs::remove_dir_all(one.join(reserved)).unwrap();
    }
    let contents = |folder: &Path| {
        let mut all: Vec<Files> = skills(folder).into_values().collect();
        all.sort();
        all
    };
    let count = skills(&one).len();
    let sync = |folder: &Path, options: &[&str]| {
        let began = Instant::now();
        let said = command("sync", &[&[folder.to_str().unwrap()], options].concat(), alice);
        eprintln!("{:.1} s for sync {}: {}", began.elapsed().as_secs_f64(), options.join(" "), said.trim_end());
        said
    };
    let said = |indexed: usize, reconciled: usize| format!("{indexed} indexed, {reconciled} reconciled, 0 removed\n");
    assert!(sync(&one, &[]).ends_with(&said(count, count)));
    assert!(sync(&one, &[]).ends_with(&said(count, 0)));
    assert!(sync(&two, &["--pull"]).ends_with(&said(0, count)));
    assert!(contents(&one) == contents(&two), "what came out is not what went in");
    assert!(sync(&two, &["--pull"]).ends_with(&said(count, 0)));
    let changed = skills(&two).into_keys().next().unwrap();
    std::fs::write(two.join(&changed).join("NOTES.md"), "more").unwrap();
    assert!(sync(&two, &[]).ends_with(&said(count, 1)));
    assert!(sync(&one, &["--pull"]).ends_with(&said(count, 1)));
    assert!(contents(&one) == contents(&two));
    std::fs::remove_dir_all(&one).unwrap();
    std::fs::remove_dir_all(&two).unwrap();
}

/// Asserts that every skill loads by the name of its folder, with the exported text.
async fn load_each(alice: &Caller, exported: &Files) {
    for (path, bytes) in exported.iter().filter(|(path, _)| path.ends_with("/SKILL.md")) {
        let name = path.trim_end_matches("/SKILL.md");
        let name = name.strip_prefix("skills/").unwrap_or(name);
        let raw = alice.get(&format!("/v1/skills/{}/SKILL.md", name.replace('/', "%2F"))).await;
        assert_eq!((raw.status, &raw.body), (200, bytes), "{name}");
        let loaded = alice.get(&format!("/v1/skills/{}", name.replace('/', "%2F"))).await.ok(200);
        assert!(String::from_utf8_lossy(bytes).ends_with(loaded["content"].as_str().unwrap()), "{name}");
        assert_eq!(loaded["times_used"], 1);
    }
}
