use super::task;

#[test]
fn every_kind_of_job_is_listed() {
    let declared = include_str!("../job.rs").lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("pub const ") && line.contains(": &str = ")
    });
    assert_eq!(declared.count(), task::ALL.len());
}
