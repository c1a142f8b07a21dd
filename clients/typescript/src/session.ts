import { type Camel, type Message, type Outcome, type PreviousSummary, type Schemas, type SessionRecord, type Snapshot, snakeCased } from "./models.js";
import type { Turn } from "./models.js";
import type { Pages } from "./pages.js";
import { UserData } from "./resources.js";
import { path, type RequestOptions, Transport } from "./transport.js";

/** Terms of a session. The same `key` continues the session while it is not silent for too long. */
export interface SessionOptions extends Camel<Schemas["OpenSession"]> {
  /** Whether `await using` ends the session (default: only without a `key`, because another message may continue one with a key). */
  endOnDispose?: boolean;
}

export type TurnOptions = Camel<Omit<Schemas["TakeTurn"], "message">> & RequestOptions;

/** Rounds of the model for this message, and its tool calls: their number, or a list with outcomes. */
export type ReplyOptions = Camel<Omit<Schemas["AddReply"], "message">> & RequestOptions;

/**
 * A conversation: the snapshot in its system prompt, a turn for each message of the user, and the replies.
 *
 * Its `skills`, `memories` and `soul` are those of the user. Loads and changes through them belong to the session.
 */
export class Session extends UserData {
  readonly id: string;
  /** The record of the session as it was opened. */
  readonly record: SessionRecord;
  /** The block for the system prompt. It never changes during the session. */
  readonly snapshot: Snapshot;
  /** Summary of the session before, if the key had one. */
  readonly previousSummary: PreviousSummary | undefined;
  /** Whether an existing session continues. */
  readonly resumed: boolean;
  /** Explains which terms were ignored, because the first message fixed them. */
  readonly notice: string | undefined;
  #needsReset = false;

  constructor(
    http: Transport,
    opened: Schemas["OpenedSession"],
    private readonly terms: SessionOptions,
  ) {
    super(new Transport(http.settings, opened.id));
    this.id = opened.id;
    this.record = opened;
    this.snapshot = opened.snapshot;
    this.previousSummary = opened.previous_summary ?? undefined;
    this.resumed = opened.resumed;
    this.notice = opened.notice ?? undefined;
  }

  /** Returns a system prompt: yours, the snapshot, and the summary of the session before unless it is tainted. */
  system(base = ""): string {
    const summary = this.previousSummary?.tainted === false ? this.previousSummary.text : "";
    return [base, this.snapshot.text, summary].filter(Boolean).join("\n\n");
  }

  /**
   * Finds the skills for a message of the user. Put `text` next to the message, unchanged.
   *
   * The same `turnKey` returns the same answer, so a message that is delivered twice is one turn.
   */
  async turn(message: string, options: TurnOptions = {}): Promise<Turn> {
    const [request, given] = split(options);
    const body = { turn_key: crypto.randomUUID(), ...(this.#needsReset && { context_reset: true }), ...given, message };
    const turn = await this.http.json<Turn>({ method: "POST", path: path`/v1/sessions/${this.id}/turns`, body }, request);
    this.#needsReset = false;
    return turn;
  }

  /** Returns the answer of an earlier turn again. */
  getTurn(turn: number, options?: RequestOptions): Promise<Turn> {
    return this.http.json({ method: "GET", path: path`/v1/sessions/${this.id}/turns/${turn}` }, options);
  }

  /** Marks that the prompt lost earlier texts, e.g. after a compaction. The next turn may show them again. */
  resetContext(): void {
    this.#needsReset = true;
  }

  /** Logs the agent's reply to the last message, with the rounds and tool calls that it took. */
  reply(message: string, options: ReplyOptions = {}): Promise<Schemas["Logged"]> {
    const [request, given] = split(options);
    return this.#post("reply", { ...given, message }, request);
  }

  /** Marks the session, for good, as one that has read untrusted content, such as a web page. */
  taint(source: string, options?: RequestOptions): Promise<SessionRecord> {
    return this.#post("taint", { source }, options);
  }

  /** Reports the user's feedback on the last reply. */
  feedback(kind: Schemas["FeedbackKind"], given: { value?: string; note?: string } = {}, options?: RequestOptions): Promise<SessionRecord> {
    return this.#post("feedback", { ...given, kind }, options);
  }

  /** Reports the outcome of following a skill in this session. */
  used(skill: string, outcome?: Outcome, options?: RequestOptions): Promise<Schemas["Counted"]> {
    return this.skills.used(skill, { outcome: outcome ?? null, session_key: this.record.key }, options);
  }

  /** Lists the messages of both sides. */
  messages(query: { limit?: number } = {}, options?: RequestOptions): Pages<Message> {
    return this.http.list(path`/v1/sessions/${this.id}/messages`, query, options);
  }

  /** Ends the session. */
  end(options?: RequestOptions): Promise<SessionRecord> {
    return this.#post("end", undefined, options);
  }

  /** Opens the key again with the same terms, e.g. after a `SessionEndedError`. Its snapshot is that of a new session. */
  async reopen(options?: RequestOptions): Promise<Session> {
    return Session.open(this.http, { ...this.terms, key: this.record.key }, options);
  }

  #post<T>(verb: string, body: object | undefined, options?: RequestOptions): Promise<T> {
    return this.http.json({ method: "POST", path: path`/v1/sessions/${this.id}/` + verb, body }, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.terms.endOnDispose ?? !this.terms.key) await this.end();
  }

  /** Opens a session, or resumes that of the key. */
  static async open(http: Transport, terms: SessionOptions, options?: RequestOptions): Promise<Session> {
    const { endOnDispose, ...given } = terms;
    const call = { method: "POST", path: "/v1/sessions", body: snakeCased(given) } as const;
    return new Session(http, await http.json(call, options), terms);
  }
}

/** Returns the options of the request, and the members of the body among the options. */
function split(options: RequestOptions): [RequestOptions, object] {
  const { signal, timeoutMs, maxRetries, idempotencyKey, session, ifMatch, reason, headers, ...given } = options;
  return [{ signal, timeoutMs, maxRetries, idempotencyKey, session, ifMatch, reason, headers }, snakeCased(given)];
}
