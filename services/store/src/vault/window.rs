/// A page of a list: at most `limit` items, starting after the item `behind`.
#[derive(Debug, Clone, Copy)]
pub struct Window<K> {
    /// Key of the last item of the previous page, or a value before all keys.
    pub behind: K,
    pub limit: i64,
}
