import { KnowhowError } from "./errors.js";
import type { Schemas, SessionRecord } from "./models.js";
import type { Pages } from "./pages.js";
import { Dreams, LearningSettings, Submissions, UserData } from "./resources.js";
import { Session, type SessionOptions } from "./session.js";
import { path, type RequestOptions, Resource, type Settings, Transport } from "./transport.js";

export interface KnowhowOptions {
  /** Address of the service (default: `KNOWHOW_URL`). */
  url?: string | undefined;
  /** API key of a tenant's backend (default: `KNOWHOW_API_KEY`). */
  apiKey?: string | undefined;
  /** Access token of a user (JWT) in place of an API key, or a function that returns a valid one. It names its user. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** User that an API key acts for (default: `KNOWHOW_USER`). The service creates the user with the first request. */
  user?: string | undefined;
  /** Milliseconds for a call with its retries (default: 60,000). */
  timeoutMs?: number | undefined;
  /** Retries after 429, 502, 503, 504 and broken connections (default: 3). */
  maxRetries?: number | undefined;
  /** The function that sends requests (default: the global `fetch`). */
  fetch?: typeof fetch | undefined;
}

/**
 * A client of Knowhow for one user.
 *
 * ```ts
 * const kh = new Knowhow({ url: "https://knowhow.example.com", apiKey: "kh_...", user: "alice" });
 * const session = await kh.session({ key: "thread-1", channel: "chat" });
 * const turn = await session.turn("Plan the meeting for Friday");
 * ```
 */
export class Knowhow extends UserData {
  readonly sessions = new Sessions(this.http);
  readonly submissions = new Submissions(this.http);
  readonly dreams = new Dreams(this.http);
  readonly learning = new LearningSettings(this.http);

  constructor(options: KnowhowOptions = {}) {
    super(new Transport(settingsOf(options)));
  }

  /** Opens a session, or resumes that of the `key`. */
  session(terms: SessionOptions = {}, options?: RequestOptions): Promise<Session> {
    return Session.open(this.http, terms, options);
  }

  /** Returns a client with the same settings for another user of the tenant. */
  withUser(user: string): Knowhow {
    const { credential, ...settings } = this.http.settings;
    return new Knowhow({ ...settings, token: credential, user });
  }

  /** Returns the current snapshot, for agents without sessions. */
  snapshot(query: { tools?: Schemas["Tools"] } = {}, options?: RequestOptions): Promise<Schemas["CurrentView"]> {
    return this.request({ method: "GET", path: "/v1/snapshot", query }, options);
  }
}

/** The sessions of the user. */
export class Sessions extends Resource {
  /** Lists sessions, newest first. */
  list(query: { key?: string; channel?: string; open?: boolean; limit?: number } = {}, options?: RequestOptions): Pages<SessionRecord> {
    return this.http.list("/v1/sessions", query, options);
  }

  /** Returns an existing session by id or key, to continue it. */
  async get(id: string, options?: RequestOptions): Promise<Session> {
    const opened = await this.http.json<Schemas["OpenedSession"]>({ method: "GET", path: path`/v1/sessions/${id}` }, options);
    return new Session(this.http, opened, { key: opened.key, channel: opened.channel, tools: opened.tools });
  }
}

function settingsOf(options: KnowhowOptions): Settings {
  const env: Record<string, string | undefined> = globalThis.process?.env ?? {};
  const url = options.url ?? env.KNOWHOW_URL;
  const credential = options.token ?? options.apiKey ?? env.KNOWHOW_API_KEY;
  if (!url) throw new KnowhowError("no address: give `url`, or set KNOWHOW_URL");
  if (!URL.canParse(url)) throw new KnowhowError(`"${url}" is not a URL; it looks like https://knowhow.example.com`);
  if (!credential) throw new KnowhowError("no credential: give `apiKey` or `token`, or set KNOWHOW_API_KEY");
  return {
    url: url.replace(/\/+$/, ""),
    credential: typeof credential === "function" ? credential : () => credential,
    user: options.user ?? (options.token ? undefined : env.KNOWHOW_USER),
    timeoutMs: options.timeoutMs ?? 60_000,
    maxRetries: options.maxRetries ?? 3,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
}
