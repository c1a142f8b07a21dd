//! Cues: the phrases that state how skills are related.

use std::sync::LazyLock;

use regex::Regex;

use super::RelationType;
use crate::kernel::pattern::pattern;

/// A cue in a text: its relation and position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cue {
    pub(super) kind: RelationType,
    /// Start, in bytes.
    pub(super) start: usize,
    /// End, in bytes; the names follow here.
    pub(super) end: usize,
}

/// Verbs that ask the agent to load a skill.
const LOAD: &str = r"(?:run|use|load|read|invoke|follow|complete|apply|start\s+with|go\s+through)";

// Uses ASCII word boundaries, because with Unicode boundaries the search is slow on texts with non-ASCII letters.
static CUES: LazyLock<Regex> = LazyLock::new(|| {
    let complements = r"works?(?:ing)?\s+(?:(?:well|best|nicely|great|hand\s+in\s+hand)\s+)?(?:together\s+)?(?:with|alongside)|(?:use|used|run)\s+(?:this\s+|it\s+)?(?:together|in\s+tandem|side\s+by\s+side)\s+with|best\s+combined\s+with|complementary\s+to|pairs?\s+(?:(?:well|best|nicely|naturally)\s+)?with|complements|is\s+a\s+(?:good\s+|natural\s+)?(?:complement|companion)\s+(?:to|of)|companion\s+(?:skill\s+)?(?:to|of)|combines?\s+(?:(?:well|nicely)\s+)?with|goes\s+(?:well|hand\s+in\s+hand)\s+with|(?:passt|harmoniert)\s+(?:(?:sehr\s+|besonders\s+)?(?:gut|hervorragend)\s+)?(?:zu|mit)|erg(?:ä|ae)nzt(?:\s+sich\s+(?:gut\s+)?mit)?|hand\s+in\s+hand\s+mit|(?:funciona\s+bien(?:\s+junto)?|combina(?:\s+bien)?|se\s+complementa(?:\s+(?:muy\s+)?bien)?)\s+con|complementa(?:\s+a)?|(?:fonctionne|marche|va|se\s+marie)\s+(?:tr[èe]s\s+)?bien\s+avec|se\s+combine\s+(?:bien\s+)?avec|compl[èe]te";
    let requires = r"requires?|depends?\s+(?:up)?on|relies\s+on|needs\s+the\s+output\s+of|needs|builds\s+on\s+the\s+output\s+of|prerequisites?(?:\s+skills?)?(?:\s+(?:is|are))?|(?:required|mandatory)\s+(?:sub-?skills?|skills?|background|reading)|prerequisite\s+skills?|mandatory(?::\s+{load})?|(?:cannot|can't|don't)\s+(?:use\s+this\s+(?:skill\s+)?)?without|(?:have|has)\s+(?:already\s+)?(?:run|completed)|(?:must|should)\s+(?:first|always\s+first)\s+{load}|first\s+{load}|(?:braucht|ben(?:ö|oe)tigt|erfordert)(?:\s+zuerst)?|setzt|(?:baut|beruht)\s+zwingend\s+auf|voraussetzung(?:en)?(?:\s+(?:ist|sind))?|requiere|depende\s+de|necesita|requisitos?(?:\s+previos?)?|requiert|d[ée]pend\s+de|n[ée]cessite|a\s+besoin\s+d(?:e|u)|pr[ée]requis";
    let extends = r"extends?|builds?\s+(?:up\s*)?on(?:\s+top\s+of)?|building\s+on|(?:an?\s+)?(?:add-?on|extension|continuation|sequel)\s+(?:for|of|to)|fortsetzung\s+(?:von|zu)|erweiterung\s+(?:von|zu)|(?:continuaci[óo]n|ampliaci[óo]n|extensi[óo]n)\s+de|(?:suite|extension)\s+de|baut\s+auf|erweitert|ampl[íi]a|extiende|se\s+basa\s+en|[ée]tend|prolonge|s['’]appuie\s+sur";
    let enables = r"next\s+skill|(?:goes|go|is\s+passed|are\s+passed)\s+to|is\s+the\s+input\s+(?:of|for)|hand\s+(?:[^\s.;:]+\s+){0,4}?to|finish\s+(?:by\s+(?:invoking|running|calling)|with)|hand(?:s|ing)?\s+(?:[^\s.;:]+\s+){0,4}?(?:off|over)\s+to|hand-?off\s+to|pass(?:es)?\s+(?:[^\s.;:]+\s+){1,4}?to|then\s+{load}|(?:next|afterwards?),?\s+{load}|(?:followed|continued)\s+by|continue\s+with|feeds?\s+(?:[^\s.;:]+\s+){0,4}?into|(?:danach|anschlie(?:ß|ss)end|dann)\s+(?:weiter\s+mit|mit|nutze|nutzt|verwende|starte)|weiter\s+mit|[üu]bergibt\s+(?:[^\s.;:]+\s+){0,4}?an|(?:luego|despu[ée]s)\s+(?:usa|utiliza|ejecuta|contin[úu]a\s+con)|entrega\s+(?:[^\s.;:]+\s+){0,4}?a|(?:puis|ensuite),?\s+(?:utilise[rz]?|lance[rz]?|passe[rz]?\s+[àa])|passe\s+le\s+relais\s+[àa]";
    let supersedes = r"replaces|supersedes|(?:is\s+)?(?:the\s+|a\s+)?(?:successor|replacement)\s+(?:of|to|for)|ersetzt|nachfolger\s+von|reemplaza(?:\s+a)?|sustituye(?:\s+a)?|remplace|succ[èe]de\s+[àa]";
    pattern(&format!(
        r"(?i)(?:(?-u:\b)|[\s*_])(?:(?P<complements>{complements})|(?P<requires>{requires})|(?P<extends>{extends})|(?P<enables>{enables})|(?P<supersedes>{supersedes}))(?:(?-u:\b)|\s)(?:\*\*|__)?\s*:?(?:\*\*|__)?\s*(?:(?i:{LOAD})\s+)?",
    ).replace("{load}", LOAD))
});

static NEGATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)(?:not|never|no|nobody|none|nothing|without|neither|nor|cannot|hardly|rarely|seldom|avoid|unlike|instead\s+of|rather\s+than|used\s+to|nicht|kein(?:e[nmrs]?)?|niemand|ohne|statt|sin|nunca|nadie|ne|pas|jamais|sans|personne)(?-u:\b)|n['’]t(?-u:\b)|(?-u:\b)n['’]",
    )
});

/// Words of a condition. If a project requires a skill under a condition, this skill does not require it.
static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)(?:if|when|whenever|whether|unless|in\s+case|wenn|falls|ob|cuando|quand|lorsque)(?-u:\b)|(?-u:\b)s[ií]\s|\bs['’]il",
    )
});

static RELATIVE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?-u:\b)(?:who|what|which|that|whoever|whatever)(?:\s+(?:also|only))?\s+$"));

/// A skill name directly before a cue, which makes that skill the subject.
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:`(?P<code>[^`]+)`|\[(?P<label>[^\]]+)\]\([^)]*\)|(?P<bare>[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)+))[*_]*(?i:\s+skill)?(?i:\s+(?:also|itself|always|often|usually|now|then|it))?\s*$",
    )
});

/// Checks whether a text contains a cue, including negated or quoted ones.
pub(super) fn may_be_cue(text: &str) -> bool {
    CUES.is_match(text)
}

/// Maximum number of cues read per block.
const MOST_CUES: usize = 200;
/// Maximum number of bytes read before a cue. A block may have 256 KB, so each cue must be cheap.
const CLAUSE_BYTES: usize = 300;

/// Returns all affirmative cues in a text. Ignores cues in negations, questions, quotations and code.
pub(super) fn cues(text: &str) -> Vec<Cue> {
    let found = CUES.captures_iter(text).take(MOST_CUES).filter_map(|captures| {
        let whole = captures.get(0)?;
        let kind = [
            ("complements", RelationType::Complements),
            ("requires", RelationType::Requires),
            ("extends", RelationType::Extends),
            ("enables", RelationType::Enables),
            ("supersedes", RelationType::Supersedes),
        ];
        let (_, kind) = kind.into_iter().find(|(group, _)| captures.name(group).is_some())?;
        let cue = whole.as_str().trim_start_matches([' ', '*', '_']);
        Some(Cue { kind, start: whole.end() - cue.len(), end: whole.end() })
    });
    found.filter(|cue| is_meant(text, *cue)).collect()
}

fn is_meant(text: &str, cue: Cue) -> bool {
    let before = &text[..cue.start];
    let is_open = |mark: &[char]| before.matches(mark).count() % 2 == 1;
    let sentence = &text[cue.start..];
    let end = sentence.find(['.', '!', '?']).map(|at| &sentence[at..=at]);
    // "What depends on it": the cue is part of a relative clause about another thing.
    let is_relative = RELATIVE.is_match(before);
    let clause = clause(text, cue);
    let is_conditional = cue.kind == RelationType::Requires && CONDITION.is_match(clause);
    end != Some("?")
        && !is_relative
        && !is_open(&['`'])
        && !is_open(&['"', '“', '”'])
        && !is_conditional
        && !NEGATION.is_match(clause)
}

/// Returns the part of the sentence before the cue that can negate the cue or name its subject.
fn clause(text: &str, cue: Cue) -> &str {
    let near = text.floor_char_boundary(cue.start.saturating_sub(CLAUSE_BYTES));
    let before = &text[near..cue.start];
    // "If it is not there, then use ...": the negation belongs to the condition.
    let is_next_step = text[cue.start..cue.end].to_ascii_lowercase().starts_with("then");
    let ends = |(at, c): &(usize, char)| {
        let is_last = before[at + c.len_utf8()..].starts_with(char::is_whitespace);
        is_last && matches!(c, '.' | ';' | ':' | '!' | '?') || is_next_step && *c == ','
    };
    let start = before.char_indices().rev().find(ends).map_or(0, |(at, _)| at + 1);
    let start = before.rfind(" but ").map_or(start, |at| start.max(at));
    &before[start..]
}

/// Returns the skill name directly before a cue, as written. This skill is the subject of the cue.
pub(super) fn subject(text: &str, cue: Cue) -> Option<&str> {
    let found = SUBJECT.captures(clause(text, cue))?;
    ["code", "label", "bare"].iter().find_map(|group| found.name(group)).map(|name| name.as_str())
}

#[cfg(test)]
mod tests;
