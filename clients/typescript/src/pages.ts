/** A page of a list. The last page has no `next_cursor`. */
export interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

/**
 * A list: `for await` reads its items from all pages, and `await` the first page.
 *
 * The list sends no request before that.
 */
export class Pages<T> implements AsyncIterable<T>, PromiseLike<Page<T>> {
  readonly #read: (cursor: string | undefined) => Promise<Page<T>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** Reads the items one by one, and a further page when it is needed. */
  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** Reads page by page. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
  }

  /** Reads all pages into an array. */
  async all(): Promise<T[]> {
    const items: T[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  /** Reads the first page. */
  readonly then: PromiseLike<Page<T>>["then"] = (fulfilled, rejected) => this.#read(undefined).then(fulfilled, rejected);
}
