//! A set of byte strings that finds all its members at the start of a text.

/// Value in `ends` for a node at which no string ends.
const NONE: u32 = u32::MAX;

/// A trie with its nodes in breadth-first order. The children of a node are therefore adjacent, and they are sorted
/// by byte.
pub(super) struct Trie {
    /// The byte on the edge to each node.
    bytes: Vec<u8>,
    /// The index of each node's first child, and one more entry. The children of node `n` are `first[n]..first[n +
    /// 1]`.
    first: Vec<u32>,
    /// The id of the string that ends at each node, or `NONE`.
    ends: Vec<u32>,
}

impl Trie {
    /// Builds the set from strings and their ids.
    pub(super) fn new(mut strings: Vec<(&[u8], u32)>) -> Self {
        strings.sort_unstable();
        strings.dedup_by_key(|(text, _)| *text);
        let mut trie = Self { bytes: vec![0], first: Vec::new(), ends: Vec::new() };
        // For each node of the current level, the range of strings below it.
        let mut level: Vec<_> = std::iter::once(0..strings.len()).collect();
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for mut below in level {
                let ends_here = strings.get(below.start).filter(|(text, _)| !below.is_empty() && text.len() == depth);
                trie.ends.push(ends_here.map_or(NONE, |(_, id)| *id));
                below.start += usize::from(ends_here.is_some());
                trie.first.push(trie.bytes.len() as u32);
                while let Some((text, _)) = strings[below.clone()].first() {
                    let byte = text[depth];
                    let same = strings[below.clone()].partition_point(|(text, _)| text[depth] == byte);
                    trie.bytes.push(byte);
                    next.push(below.start..below.start + same);
                    below.start += same;
                }
            }
            (level, depth) = (next, depth + 1);
        }
        trie.first.push(trie.bytes.len() as u32);
        trie
    }

    /// Returns the length and id of each string that is a prefix of the text, the shortest first.
    pub(super) fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = (usize, u32)> {
        let mut node = 0;
        let nodes = text.iter().map_while(move |&byte| {
            let (first, after) = (self.first[node] as usize, self.first[node + 1] as usize);
            node = first + self.bytes[first..after].binary_search(&byte).ok()?;
            Some(self.ends[node])
        });
        nodes.zip(1..).filter(|(end, _)| *end != NONE).map(|(end, length)| (length, end))
    }
}
