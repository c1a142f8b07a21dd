/** Requests: credentials, keys, retries, deadlines and errors. */
import { ConnectionError, errorOf, KnowhowError, QuotaExceededError, TimeoutError } from "./errors.js";
import { type Page, Pages } from "./pages.js";

/** Options that each method takes as its last argument. */
export interface RequestOptions {
  /** Aborts the request and its retries; the call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call with its retries (default: the client's). Then it rejects with a `TimeoutError`. */
  timeoutMs?: number | undefined;
  /** Retries after 429, 502, 503, 504 and broken connections (default: the client's). */
  maxRetries?: number | undefined;
  /** Key under which a write takes effect once within 24 hours. By default each call has its own, also in its retries. */
  idempotencyKey?: string | undefined;
  /** Session that causes the request, by id or key: for provenance, taint, and learning from use. */
  session?: string | undefined;
  /** Version that a change is based on. On another version it rejects with a `VersionConflictError`. */
  ifMatch?: number | undefined;
  /** Reason of an admin who reads or reviews a user's data, for the audit log. */
  reason?: string | undefined;
  /** Further headers. */
  headers?: Record<string, string> | undefined;
}

/** A request of the API. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: object | undefined;
  /** A form, bytes, or anything else as JSON. */
  body?: unknown;
  /** Whether another attempt after a broken connection is safe without an idempotency key. */
  repeatable?: boolean;
}

/** Settings of a client that are needed for each request. */
export interface Settings {
  url: string;
  /** A function, so that no log shows the credential. */
  credential: () => string | Promise<string>;
  user: string | undefined;
  timeoutMs: number;
  maxRetries: number;
  fetch: typeof fetch;
}

/** A group of methods of a client or a session. */
export abstract class Resource {
  constructor(protected readonly http: Transport) {}
}

const LONGEST_PAUSE_MS = 8_000;
const RETRIED = new Set([429, 502, 503, 504]);

/** The way to the service. */
export class Transport {
  constructor(
    readonly settings: Settings,
    /** Session of all requests that name no other. */
    readonly session?: string,
  ) {}

  /** Sends a request and returns its JSON; undefined if the answer has no body. */
  async json<T>(call: Call, options?: RequestOptions): Promise<T> {
    return this.send(call, options, async (response) => {
      const text = await response.text();
      if (!text) return undefined as T;
      try {
        return JSON.parse(text) as T;
      } catch {
        throw new KnowhowError(`${call.method} ${response.url} did not return JSON; is this the URL of a Knowhow service?`);
      }
    });
  }

  /** Returns a list. It requests a page when the page is read. */
  list<T>(path: string, query: object, options?: RequestOptions): Pages<T> {
    return new Pages((cursor) => this.json<Page<T>>({ method: "GET", path, query: { ...query, ...(cursor && { cursor }) } }, options));
  }

  /** Sends a request until an attempt succeeds or cannot be repeated, and returns the successful response as `read` returns it. */
  async send<T>(call: Call, options: RequestOptions = {}, read: (response: Response) => Promise<T>): Promise<T> {
    const { timeoutMs = this.settings.timeoutMs, maxRetries = this.settings.maxRetries, signal } = options;
    const [url, init] = await this.#request(call, options);
    const ends = Date.now() + timeoutMs;
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), timeoutMs);
    init.signal = signal ? AbortSignal.any([signal, timer.signal]) : timer.signal;
    try {
      for (let attempt = 0; ; attempt++) {
        const failure = await this.#attempt(url, init, read).then(
          (answer) => ({ answer }),
          (error: unknown) => ({ error }),
        );
        if ("answer" in failure) return failure.answer;
        signal?.throwIfAborted();
        const name = `${call.method} ${call.path}`;
        if (timer.signal.aborted) throw new TimeoutError(`${name} was not answered within ${timeoutMs} ms`);
        const pause = attempt < maxRetries ? pauseAfter(failure.error, attempt, call) : undefined;
        if (pause === undefined || Date.now() + pause >= ends) throw failure.error;
        await sleep(pause, init.signal).catch(() => signal?.throwIfAborted());
      }
    } finally {
      clearTimeout(timeout);
    }
  }

  async #attempt<T>(url: URL, init: RequestInit, read: (response: Response) => Promise<T>): Promise<T> {
    try {
      const response = await this.settings.fetch(url, init);
      if (response.ok) return await read(response);
      throw errorOf(response, await response.text());
    } catch (error) {
      if (error instanceof KnowhowError) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new ConnectionError(`no answer from ${url.origin}: ${cause instanceof Error ? cause.message : cause}`, { cause: error });
    }
  }

  async #request(call: Call, options: RequestOptions): Promise<[URL, RequestInit]> {
    const { credential, user } = this.settings;
    const headers = new Headers({ accept: "application/json, */*;q=0.5" });
    const set = (name: string, value: string | undefined) => value !== undefined && headers.set(name, utf8(value));
    set("authorization", `Bearer ${await credential()}`);
    set("knowhow-user", user);
    set("knowhow-session", options.session ?? this.session);
    set("knowhow-reason", options.reason);
    set("if-match", options.ifMatch === undefined ? undefined : `"${options.ifMatch}"`);
    if (call.method !== "GET") set("idempotency-key", options.idempotencyKey ?? crypto.randomUUID());
    const init: RequestInit = { method: call.method, headers };
    if (call.body !== undefined) {
      // A form is encoded once, so that each attempt sends the same bytes.
      const body = call.body instanceof FormData ? await new Response(call.body).blob() : call.body;
      const isBytes = body instanceof Blob || body instanceof Uint8Array;
      set("content-type", isBytes ? (body instanceof Blob && body.type) || "application/octet-stream" : "application/json");
      init.body = isBytes ? (body as Blob) : JSON.stringify(body);
    }
    for (const [name, value] of Object.entries(options.headers ?? {})) set(name, value);
    return [withQuery(this.settings.url + call.path, call.query), init];
  }
}

/** Returns a path with its members encoded. Refuses members that a URL would drop. */
export function path(parts: TemplateStringsArray, ...members: (string | number)[]): string {
  return String.raw({ raw: parts }, ...members.map(encoded));
}

/** Returns the path of a file, in which `/` separates folders, as part of a URL. */
export function filePath(file: string): string {
  return file.replace(/^(\.\/)+/, "").split("/").map(encoded).join("/");
}

function encoded(member: string | number | undefined): string {
  if (member === undefined || ["", ".", ".."].includes(String(member))) throw new TypeError(`"${member}" is not a name, id or path`);
  return encodeURIComponent(member);
}

function withQuery(address: string, query: object = {}): URL {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  }
  return url;
}

/** Returns the text as the bytes of a header, which are one character each. */
function utf8(value: string): string {
  return String.fromCharCode(...new TextEncoder().encode(value));
}

/** Returns the milliseconds before the next attempt; undefined if a retry cannot help or might repeat a write. */
function pauseAfter(error: unknown, attempt: number, call: Call): number | undefined {
  const status = error instanceof KnowhowError && "status" in error ? (error.status as number) : undefined;
  if (error instanceof QuotaExceededError || (status !== undefined && !RETRIED.has(status))) return undefined;
  if (status === undefined && !(error instanceof ConnectionError)) return undefined;
  // The service did not process a request that it answered with 429 or 503. Without an answer that is unknown.
  if (call.repeatable === false && status !== 429 && status !== 503) return undefined;
  const wanted = (error as { retryAfter?: number }).retryAfter;
  if (wanted !== undefined) return wanted * 1000;
  return Math.min(LONGEST_PAUSE_MS, 250 * 2 ** attempt) * (0.75 + Math.random() / 2);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal.removeEventListener("abort", stop), resolve()), ms);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
