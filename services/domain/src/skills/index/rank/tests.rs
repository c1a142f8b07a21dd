use chrono::TimeDelta;

use super::*;

#[test]
fn pinned_used_recent_and_important_skills_come_first() {
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
    let plain = SkillUsage { pinned: false, importance: 0.7, times_used: 0, active_at: now - TimeDelta::days(60) };
    let ranks = rank_skills(&[
        plain,
        SkillUsage { pinned: true, ..plain },
        SkillUsage { times_used: 5, ..plain },
        SkillUsage { active_at: now, ..plain },
        SkillUsage { importance: 0.9, ..plain },
    ]);
    assert!(ranks[1..].iter().all(|rank| *rank > ranks[0]), "{ranks:?}");
    assert!(ranks[1] > 1_000.0 && rank_skills(&[]).is_empty());
}
