/** Shared by the adapters of frameworks: takes turns for the messages of a prompt, and logs replies. */
import { ForbiddenError, LogFullError, NotFoundError, AnswerGoneError, SessionEndedError, UnauthenticatedError } from "../errors.js";
import type { ToolCall } from "../models.js";
import type { Session } from "../session.js";
import { align, isCurrent, type KnownTurn, type PromptParts, type ToolResult } from "./known_turns.js";

export interface ConversationOptions {
  /** Tools that return content of others, such as web pages or mail. Their results taint the session. */
  untrustedTools?: string[];
  /** Milliseconds that the service may search for a turn (default: 500). */
  deadlineMs?: number;
  /** Milliseconds for a turn or reply. After that the agent continues without it. */
  timeoutMs?: number;
  /** Options of the snapshot's message for the provider, e.g. `{ anthropic: { cacheControl: { type: "ephemeral" } } }`. */
  providerOptions?: Record<string, Record<string, unknown>>;
  /** Reports a turn or reply that failed; the agent continues without it (default: logs a warning). */
  onError?: (error: unknown) => void;
}

const successors = new WeakMap<Session, Session>();

/** Returns the session that continues this one, if its key was opened again. */
export function currentOf(session: Session): Session {
  const next = successors.get(session);
  return next ? currentOf(next) : session;
}

/** A session as a framework drives it: call after call of the model, each with the whole prompt. */
export class Conversation {
  /** Rounds that the current message may take. */
  maxTurns: number;
  #turns: KnownTurn[] | undefined;
  #rounds = 0;
  #calls = new Map<string, ToolCall & { began: number }>();
  readonly #sources = new Set<string>();

  constructor(
    public session: Session,
    readonly options: ConversationOptions = {},
  ) {
    this.maxTurns = session.record.max_turns;
  }

  /** Whether the next round must answer, because the budget has no other. */
  get isLastRound(): boolean {
    return this.#rounds + 1 >= this.maxTurns;
  }

  /** Returns the text for each message of the user. A new message becomes a turn. Call it before each round. */
  async begin(parts: PromptParts, signal?: AbortSignal): Promise<string[]> {
    await this.taint(parts.results);
    for (const { id, error } of parts.results) {
      const call = this.#calls.get(id);
      if (!call || call.ms !== undefined) continue;
      Object.assign(call, { ms: Date.now() - call.began, ok: error === undefined, error: error?.slice(0, 200) });
    }
    const turns = (this.#turns ??= await this.#earlierTurns());
    const message = parts.messages.at(-1);
    if (message !== undefined && !isCurrent(turns.at(-1), message, parts)) {
      const placed = new Set(align(parts.messages.slice(0, -1), turns));
      // A compaction removed messages and the texts of their turns.
      if (turns.some((turn) => !placed.has(turn) && turn.text !== "")) this.session.resetContext();
      this.#turns = turns.filter((turn) => placed.has(turn));
      this.#turns.push({ ...(await this.#turn(message, signal)), message, isAnswered: false, position: parts.messages.length });
      this.#rounds = 0;
      this.#calls.clear();
    }
    const placed = align(parts.messages, this.#turns);
    for (const turn of placed) if (turn && turn.text === undefined) turn.text = await this.#textOf(turn.number!);
    return placed.map((turn) => turn?.text ?? "");
  }

  /** Counts a round, and logs the reply if the model asks for no more tools. Call it after each round. */
  async end(text: string, calls: { id: string; name: string }[], isFinal: boolean): Promise<void> {
    this.#rounds++;
    for (const { id, name } of calls) this.#calls.set(id, { name, ok: true, began: Date.now() });
    const turn = this.#turns?.at(-1);
    if (!isFinal || !turn || turn.isAnswered) return;
    turn.isAnswered = true;
    if (turn.number === undefined) return;
    const toolCalls = [...this.#calls.values()].slice(-128).map(({ began: _, ...call }) => call);
    const options = { rounds: this.#rounds, toolCalls, timeoutMs: this.options.timeoutMs };
    await this.#attempt(() => this.session.reply(text || "(no text)", options));
  }

  /** Taints the session if an untrusted tool returned something. A failure is not ignored. */
  async taint(results: ToolResult[]): Promise<void> {
    for (const { name } of results) {
      if (!this.options.untrustedTools?.includes(name) || this.#sources.has(name)) continue;
      await this.session.taint(`tool ${name}`);
      this.#sources.add(name);
    }
  }

  async #turn(message: string, signal?: AbortSignal): Promise<Pick<KnownTurn, "text" | "number">> {
    const { deadlineMs, timeoutMs } = this.options;
    const take = () => this.session.turn(message, { turnKey, signal, timeoutMs, deadlineMs });
    const turnKey = crypto.randomUUID();
    const turn = await this.#attempt(() =>
      take().catch(async (error: unknown) => {
        if (error instanceof LogFullError) await this.session.end();
        else if (!(error instanceof SessionEndedError)) throw error;
        const next = await this.session.reopen();
        successors.set(this.session, next);
        this.session = next;
        for (const name of this.#sources) await this.session.taint(`tool ${name}`);
        return take();
      }),
    );
    this.maxTurns = turn?.max_turns ?? this.session.record.max_turns;
    return { text: turn?.text ?? "", number: turn?.turn };
  }

  async #attempt<T>(run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof UnauthenticatedError || error instanceof ForbiddenError) throw error;
      const report = this.options.onError ?? ((failure) => console.warn(`Knowhow: the agent continues without it: ${failure}`));
      report(error);
      return undefined;
    }
  }

  /** Returns the turns of a session that continues, e.g. in a process that was started anew. */
  async #earlierTurns(): Promise<KnownTurn[]> {
    if (!this.session.record.turns) return [];
    const turns = new Map<number, KnownTurn>();
    for await (const { speaker, turn, text } of this.session.messages({ limit: 200 })) {
      if (speaker === "user") turns.set(turn, { message: text, text: undefined, number: turn, isAnswered: false, position: undefined });
      else if (turns.has(turn)) turns.get(turn)!.isAnswered = true;
    }
    return [...turns.values()];
  }

  async #textOf(turn: number): Promise<string> {
    return this.session.getTurn(turn).then(
      ({ text }) => text,
      (error: unknown) => (error instanceof AnswerGoneError || error instanceof NotFoundError ? "" : Promise.reject(error)),
    );
  }
}
