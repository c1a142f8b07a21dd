//! Tests of recall on small catalogues.

mod naming;
mod properties;
mod ranking;
mod updates;

use super::{search as search_query, *};

fn search(catalogue: &Catalogue, message: &str, embedding: Option<&[f32]>, limit: usize) -> Ranking {
    search_query(catalogue, &Query { message, embedding, limit, ..Query::default() })
}

fn catalogue_of(skills: &[(&str, &str)]) -> Catalogue {
    let texts: Vec<SkillText<'_>> =
        skills.iter().map(|(name, description)| SkillText { name, description, ..SkillText::default() }).collect();
    Catalogue::build(&texts)
}

const MCP: [(&str, &str); 5] = [
    ("mcp/email", "Send email via an MCP-connected mail server"),
    ("mcp/calendar", "Read and write calendar events over MCP"),
    ("plan-meeting", "Schedule meetings and invite attendees"),
    ("research/summarize-paper", "Summarize an academic paper into key points"),
    ("mcp/guide", "When to use which MCP server"),
];

fn found(skills: &[(&str, &str)], message: &str) -> Vec<String> {
    let ranking = search(&catalogue_of(skills), message, None, 5);
    ranking.relevant(FLOOR).iter().map(|hit| skills[hit.skill].0.to_owned()).collect()
}

fn first(skills: &[(&str, &str)], message: &str) -> Option<String> {
    found(skills, message).into_iter().next()
}
