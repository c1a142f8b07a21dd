/// The part of a list that is wanted: what comes behind an item in the list's order, at most `limit` items.
#[derive(Debug, Clone, Copy)]
pub struct Window<K> {
    /// The key of the last item that is known already, or where the list begins.
    pub behind: K,
    /// Most items to read.
    pub limit: i64,
}
