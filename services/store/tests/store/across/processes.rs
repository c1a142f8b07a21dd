//! The list of running processes, and the limits of connections.

use knowhow_domain::{Process, ProcessId, ProcessKind, new_id};
use knowhow_store::Database;
use knowhow_store::across::processes::{self, Admitted, NewProcess};
use knowhow_store::deployment::pooler;

use crate::harness::{Place, open, with_database, with_role};

fn process(kind: ProcessKind) -> NewProcess {
    NewProcess { id: ProcessId(new_id()), kind, version: "1.2.3", host: "here".into(), connections: 20 }
}

fn small(url: &str) -> Database {
    open(url, 2, 2)
}

/// Makes the last heartbeat of a process older than the limit.
async fn silence(place: &Place, process: &NewProcess) {
    place
        .run(&format!("update processes set seen_at = now() - interval '61 s' where process_id = '{}'", process.id))
        .await;
}

fn ids(listed: &[Process]) -> Vec<ProcessId> {
    listed.iter().map(|process| process.id).collect()
}

#[tokio::test]
async fn a_process_is_listed_from_its_start_to_its_end() {
    with_database(async |place| {
        let db = small(&place.login_url);
        let (serving, working) = (process(ProcessKind::Serve), process(ProcessKind::Worker));
        processes::note(&db, &working).await.unwrap();
        processes::note(&db, &serving).await.unwrap();
        let before = processes::list(&db).await.unwrap();
        assert_eq!(ids(&before), [serving.id, working.id]);
        let Process { kind, version, host, connections, started_at, seen_at, .. } = before[0].clone();
        assert_eq!((kind, &*version, &*host, connections), (ProcessKind::Serve, "1.2.3", "here", 20));
        processes::note(&db, &serving).await.unwrap();
        let again = processes::list(&db).await.unwrap().remove(0);
        assert!(again.started_at == started_at && again.seen_at > seen_at, "{again:?}");
        processes::remove(&db, serving.id).await.unwrap();
        assert_eq!(ids(&processes::list(&db).await.unwrap()), [working.id]);
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_heartbeat_removes_the_rows_of_crashed_processes() {
    with_database(async |place| {
        let db = small(&place.login_url);
        let (crashed, alive) = (process(ProcessKind::Worker), process(ProcessKind::ServeWithWorker));
        processes::note(&db, &crashed).await.unwrap();
        silence(place, &crashed).await;
        assert!(processes::list(&db).await.unwrap().is_empty());
        assert_eq!(place.count("select count(*) from processes").await, 1);
        processes::note(&db, &alive).await.unwrap();
        assert_eq!(place.count("select count(*) from processes").await, 1);
        // A process that was only disconnected is listed again with its next heartbeat.
        processes::note(&db, &crashed).await.unwrap();
        assert_eq!(ids(&processes::list(&db).await.unwrap()), [alive.id, crashed.id]);
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn concurrent_heartbeats_do_not_block_each_other() {
    with_database(async |place| {
        let db = small(&place.login_url);
        let all: Vec<NewProcess> = (0..8).map(|_| process(ProcessKind::Serve)).collect();
        for _ in 0..4 {
            for process in &all {
                processes::note(&db, process).await.unwrap();
            }
            // All processes were disconnected and return at the same moment, so each would remove the others.
            place.run("update processes set seen_at = now() - interval '61 s'").await;
            let notes = all.iter().map(|process| processes::note(&db, process));
            for noted in futures_util::future::join_all(notes).await {
                noted.unwrap();
            }
        }
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn limits_of_connections_are_read_from_server_role_and_database() {
    with_database(async |place| {
        let by_server =
            i32::try_from(place.count("select current_setting('max_connections')::bigint").await).unwrap() - 3;
        let db = small(&place.login_url);
        let admitted = Admitted { by_server, by_role: None, by_database: None };
        assert_eq!(processes::read_admitted(&db).await.unwrap(), admitted);
        assert!(!pooler::shares_connections(&db).await.unwrap());
        db.close().await;
        let name = place.owner_url.rsplit('/').next().unwrap();
        place.run(&format!("alter database {name} connection limit 30")).await;
        with_role(place, "noinherit connection limit 20", async |_, url| {
            let db = small(url);
            let admitted = Admitted { by_server, by_role: Some(20), by_database: Some(30) };
            assert_eq!(processes::read_admitted(&db).await.unwrap(), admitted);
            db.close().await;
        })
        .await;
    })
    .await;
}
