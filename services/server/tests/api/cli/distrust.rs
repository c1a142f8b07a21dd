//! A service that misleads the command line: lists and bodies without an end, silence, redirects, secrets in errors.
//! Every command must end in time, within its memory, and give the reason.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::hostile::{Asked, Hostile, TOKEN, at, both, send, watched};
use crate::service::scratch;

/// Creates a folder with a skill, for imports and syncs.
fn home() -> &'static str {
    let home = scratch("distrust");
    std::fs::create_dir_all(home.join("skills/good")).unwrap();
    let document = "---\nname: good\ndescription: Does good. Use when asked.\n---\nbody\n";
    std::fs::write(home.join("skills/good/SKILL.md"), document).unwrap();
    home.to_str().unwrap().to_owned().leak()
}

/// Returns commands that read each kind of answer. Some of them write to `archive`.
fn commands(archive: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["export", "-o", archive],
        vec!["export", "-o", "-"],
        vec!["import", home()],
        vec!["sync", home()],
        vec!["sync", home(), "--pull"],
        vec!["admin", "users"],
        vec!["admin", "users", "--json"],
        vec!["admin", "tenant", "acme"],
        vec!["admin", "processes"],
        vec!["admin", "audit"],
        vec!["admin", "audit", "-o", archive],
        vec!["admin", "audit", "-o", "-"],
        vec!["admin", "export-user", "alice", "-o", archive],
        vec!["admin", "erase-user", "alice", "--reason", "asked for it"],
    ]
}

/// Returns a command with a user, whose name a hostile address must not receive.
fn as_alice(url: &str, arguments: &[&str]) -> Command {
    let mut command = at(url, arguments);
    command.env("KNOWHOW_USER", "alice");
    command
}

/// Returns a command with a timeout of one second.
fn impatient(url: &str, arguments: &[&str]) -> Command {
    let mut command = at(url, arguments);
    command.env("KNOWHOW_TIMEOUT", "1");
    command
}

/// Creates a file that a failed export must not change, in a separate folder.
fn earlier() -> PathBuf {
    let folder = scratch("earlier");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("earlier.zip"), "earlier").unwrap();
    folder.join("earlier.zip")
}

#[track_caller]
fn is_untouched(archive: &PathBuf) {
    assert_eq!(std::fs::read(archive).unwrap(), b"earlier");
    let beside = std::fs::read_dir(archive.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "a part was left");
}

/// Runs every command against a service, and returns the error message of each.
#[track_caller]
fn all_fail_within(seconds: u64, answer: fn(&Asked, &mut TcpStream) -> std::io::Result<()>) -> Vec<String> {
    let (service, archive) = (Hostile::start(answer), earlier());
    let commands = commands(archive.to_str().unwrap());
    let fail = |arguments: &Vec<&str>| {
        let ended = watched(impatient(&service.url, arguments));
        let said = ended.failed_within(seconds);
        (arguments.join(" "), said)
    };
    // Runs the commands concurrently, because each mostly waits.
    let said = thread::scope(|scope| {
        let running: Vec<_> = commands.iter().map(|arguments| scope.spawn(|| fail(arguments))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    is_untouched(&archive);
    said.into_iter().map(|(command, said)| format!("{command}: {said}")).collect()
}

#[track_caller]
fn each_says(all: &[String], words: &str) {
    all.iter().for_each(|said| assert!(said.contains(words), "{said}"));
}

#[test]
fn silence_ends_every_command() {
    let said = all_fail_within(30, |_, stream| {
        thread::sleep(Duration::from_secs(60));
        send(stream, 200, "", b"{}")
    });
    each_says(&said, "did not respond within 1 s; use --timeout SECONDS to wait longer");
}

#[test]
fn silence_in_the_middle_of_a_body_ends_every_command() {
    let said = all_fail_within(30, |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\"")?;
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    each_says(&said, "the service sent only 8 bytes within");
}

#[test]
fn a_very_slow_body_ends_every_command() {
    let said = all_fail_within(30, |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
        (0..600).try_for_each(|_| {
            thread::sleep(Duration::from_millis(100));
            stream.write_all(b" ")
        })
    });
    each_says(&said, "the service sent only ");
}

#[test]
fn very_slow_headers_end_every_command() {
    let said = all_fail_within(30, |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nA: ")?;
        (0..600).try_for_each(|_| {
            thread::sleep(Duration::from_millis(100));
            stream.write_all(b"a")
        })
    });
    each_says(&said, "did not respond within 1 s");
}

#[test]
fn a_refusal_with_an_endless_body_is_abandoned() {
    let said = all_fail_within(30, |_, stream| {
        stream.write_all(b"HTTP/1.1 422 No\r\nConnection: close\r\n\r\n{\"detail\": \"")?;
        loop {
            stream.write_all(&[b'a'; 65536])?;
        }
    });
    each_says(&said, "422 Unprocessable Entity: no detail given");
}

#[test]
fn an_incomplete_body_leaves_no_file() {
    let said =
        all_fail_within(30, |_, stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"items\""));
    each_says(&said, "the response is incomplete");
}

#[test]
fn a_body_with_an_excessive_length_is_not_read() {
    let said = all_fail_within(30, |_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n{")?;
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
    each_says(&said, "the response is larger than ");
}

#[test]
fn an_endless_document_is_abandoned() {
    let service = Hostile::start(|_, stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"items\": [")?;
        loop {
            stream.write_all(&b"0,".repeat(32768))?;
        }
    });
    for arguments in commands("x.zip").iter().filter(|arguments| !arguments.contains(&"-o")) {
        let said = watched(at(&service.url, arguments)).failed_within(60);
        assert!(said.contains("the response is larger than "), "{arguments:?}: {said}");
    }
}

#[test]
fn memory_for_parsed_values_is_limited() {
    let service = Hostile::start(|_, stream| {
        let many = format!("{{\"items\": [{}0]}}", "[],".repeat((4 << 20) / 3 - 10));
        send(stream, 200, "", many.as_bytes())
    });
    let ended = watched(at(&service.url, &["admin", "tenant", "acme", "--json"]));
    assert!(ended.memory < 300_000_000, "{} bytes", ended.memory);
}

#[test]
fn an_archive_is_written_while_it_arrives() {
    let service = Hostile::start(|_, stream| {
        let size = 300 << 20;
        stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").as_bytes())?;
        (0..size / 65536).try_for_each(|_| stream.write_all(&[b'\n'; 65536]))
    });
    let archive = earlier();
    for command in [&["export"][..], &["admin", "export-user", "alice"], &["admin", "audit"]] {
        let ended = watched(at(&service.url, &[command, &["-o", archive.to_str().unwrap()]].concat()));
        assert!(ended.output.status.success(), "{}", ended.said());
        assert!(ended.memory < 100_000_000, "{command:?} takes {} bytes", ended.memory);
        assert_eq!(std::fs::metadata(&archive).unwrap().len(), 300 << 20);
    }
}

/// Returns an empty page of any list, with this cursor for the next page.
fn page(cursor: &str) -> (u16, serde_json::Value) {
    (200, json!({"tenant": "acme", "user": "alice", "items": [], "room": 1, "limit": 1, "next_cursor": cursor}))
}

#[test]
fn a_repeated_cursor_ends_a_list() {
    for cursors in [&["a"][..], &["a", "b"], &["a", "b", "c", "d", ""]] {
        let count = AtomicUsize::new(0);
        let service = Hostile::json(move |_| page(cursors[count.fetch_add(1, Ordering::SeqCst) % cursors.len()]));
        let home = home();
        for arguments in [&["admin", "users"][..], &["admin", "audit", "--json"], &["sync", home], &["admin", "jobs"]] {
            let before = service.asked().len();
            let said = watched(at(&service.url, arguments)).failed_within(30);
            assert!(said.contains("the list does not end"), "{said}");
            assert!(service.asked().len() - before <= cursors.len() + 1, "{cursors:?}");
        }
    }
    let service = Hostile::json(|_| page(&"long".repeat(1000)));
    let said = watched(at(&service.url, &["admin", "users"])).failed_within(30);
    assert!(said.contains("the list does not end"), "{said}");
}

#[test]
fn a_list_of_ever_new_pages_ends() {
    let count = AtomicUsize::new(0);
    let service = Hostile::json(move |_| page(&format!("c{}", count.fetch_add(1, Ordering::SeqCst))));
    let said = watched(at(&service.url, &["admin", "users"])).failed_within(240);
    assert!(said.contains("the list does not end: stopped after 10000 pages"), "{said}");
    assert_eq!(service.asked().len(), 10_000);
}

#[test]
fn a_cursor_is_encoded_in_the_query() {
    let service = Hostile::json(|asked| match asked.line.contains("cursor=") {
        false => page("a&limit=1&user=mallory#\r\n"),
        true => (200, json!({"items": []})),
    });
    assert!(at(&service.url, &["admin", "users"]).output().unwrap().status.success());
    assert!(
        service.asked()[1].line.contains("cursor=a%26limit%3D1%26user%3Dmallory%23%0D%0A"),
        "{:?}",
        service.asked()[1]
    );
}

#[test]
fn a_redirect_sends_no_credential_to_another_address() {
    let elsewhere = Hostile::json(|_| (200, json!({"items": []})));
    let target = elsewhere.url.replace("http://", "http://me:s3cret@");
    for (status, back) in
        [(301, false), (302, false), (303, false), (307, false), (308, false), (307, true), (302, true)]
    {
        let target = target.clone();
        let service = Hostile::start(move |asked, stream| match asked.line.contains("/again") {
            true => send(stream, 200, "", b"{\"items\": []}"),
            false => {
                let target = if back { "/again".to_owned() } else { format!("{target}/v1?token=s3cret#s3cret") };
                send(stream, status, &format!("Location: {target}\r\n"), b"")
            }
        });
        let archive = earlier();
        for arguments in commands(archive.to_str().unwrap()) {
            let ended = watched(as_alice(&service.url, &arguments));
            let said = ended.failed_within(30);
            assert!(said.contains("redirects to http://127.0.0.1:") && said.contains("not followed"), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
        is_untouched(&archive);
        assert!(service.asked().iter().all(|asked| !asked.line.contains("/again")), "{status}");
    }
    assert!(elsewhere.asked().is_empty(), "{:?}", elsewhere.asked());
}

#[test]
fn a_url_with_secrets_is_neither_used_nor_printed() {
    let service = Hostile::json(|_| (200, json!({"items": []})));
    let address = service.url.trim_start_matches("http://");
    let archive = earlier();
    for url in [
        format!("http://me:s3cret@{address}"),
        format!("http://s3cret@{address}"),
        format!("http://{address}/?token=s3cret"),
        format!("http://{address}/#s3cret"),
        "http://me:s3cret@127.0.0.1:99999".to_owned(),
        "ftp://me:s3cret@127.0.0.1".to_owned(),
        "me:s3cret@127.0.0.1".to_owned(),
    ] {
        for arguments in commands(archive.to_str().unwrap()) {
            let said = watched(at(&url, &arguments)).failed_within(30);
            assert!(said.contains("KNOWHOW_URL") && !said.contains("s3cret"), "{said}");
        }
        for arguments in [&["export", "--help"][..], &["admin", "users", "-h"], &["sync"]] {
            let said = both(&at(&url, arguments).output().unwrap());
            assert!(!said.contains("s3cret") && !said.contains(TOKEN), "{said}");
        }
    }
    assert!(service.asked().is_empty());
}

#[test]
fn a_token_in_a_refusal_is_not_printed() {
    let service = Hostile::json(|asked| (401, json!({"type": "/problems/x", "detail": format!("no: {}", asked.head)})));
    let archive = earlier();
    for arguments in commands(archive.to_str().unwrap()) {
        let said = watched(at(&service.url, &arguments)).failed_within(30);
        assert!(said.contains("Bearer [token]"), "{said}");
    }
}

#[test]
fn a_service_that_is_always_busy_is_abandoned() {
    for (wait, code, status) in [("1", "rate-limited", 429), ("86400", "rate-limited", 429), ("1", "unavailable", 503)]
    {
        let service = Hostile::start(move |_, stream| {
            let problem = json!({"type": format!("/problems/{code}"), "detail": "more slowly"});
            send(stream, status, &format!("Retry-After: {wait}\r\n"), problem.to_string().as_bytes())
        });
        let archive = earlier();
        for arguments in [vec!["export", "-o", archive.to_str().unwrap()], vec!["sync", home()], vec!["admin", "users"]]
        {
            let said = watched(impatient(&service.url, &arguments)).failed_within(20);
            assert!(said.contains("more slowly (gave up"), "{said}");
        }
        assert!(service.asked().len() <= 15, "{}", service.asked().len());
    }
}

#[test]
fn a_connection_without_an_answer_times_out() {
    // The kernel accepts the connection, and the service never reads.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let said = watched(at(&url, &["admin", "users", "--timeout", "1"])).failed_within(20);
    assert!(said.contains("did not respond within 1 s"), "{said}");
    // The client begins TLS, and the service does not answer.
    let said = watched(at(&url.replace("http", "https"), &["export", "-o", "-", "--timeout", "1"])).failed_within(20);
    assert!(said.contains(&listener.local_addr().unwrap().to_string()), "{said}");
}

#[test]
fn an_export_waits_for_a_slow_reader() {
    let service = Hostile::start(|_, stream| send(stream, 200, "", &vec![b'x'; 8 << 20]));
    let mut command = at(&service.url, &["export", "-o", "-", "--timeout", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(4));
    let (mut bytes, mut said) = (Vec::new(), String::new());
    child.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success() && bytes.len() == 8 << 20, "{} {said}", bytes.len());
}

#[test]
fn answers_about_other_skills_are_refused() {
    let service = Hostile::json(|_| (200, json!({"items": [], "room": 10, "limit": 10})));
    let home = home();
    let said = watched(at(&service.url, &["import", home])).failed_within(30);
    assert!(said.contains("the service returned 0 results for 1 skills"), "{said}");
}

#[test]
fn a_skill_larger_than_any_service_stores_is_not_read() {
    let digest = "0".repeat(64);
    for (count, size) in [(1_001, 1), (2, u64::MAX), (65, 1 << 20)] {
        let digest = digest.clone();
        let service = Hostile::json(move |asked| {
            let listed = json!({"id": uuid::Uuid::nil(), "name": "big", "version": 1, "digest": digest, "source": "sync", "tainted": false});
            let file =
                |n: u64| json!({"path": format!("references/{n}"), "media_type": "x", "size": size, "digest": digest});
            match asked {
                _ if asked.is("/v1/skills/export/digests") => {
                    (200, json!({"tenant": "acme", "user": "alice", "items": [listed], "next_cursor": null}))
                }
                _ => (
                    200,
                    json!({"id": uuid::Uuid::nil(), "version": 1, "digest": digest, "resources": (0..count).map(file).collect::<Vec<_>>()}),
                ),
            }
        });
        let folder = scratch("empty");
        std::fs::create_dir(&folder).unwrap();
        let said = watched(at(&service.url, &["sync", folder.to_str().unwrap(), "--pull"])).failed_within(30);
        assert!(said.contains("it has more than 1000 files or 67108864 bytes"), "{said}");
        assert!(
            service.asked().iter().all(|asked| !asked.is("/v1/skills/00000000-0000-0000-0000-000000000000/resources"))
        );
    }
}
