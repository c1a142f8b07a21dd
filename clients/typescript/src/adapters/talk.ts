/** Conversations of workers for channels. They send the messages of a `Question` to a model. */
import type { Knowhow } from "../client.js";
import { AnswerGoneError, ConnectionError, LogFullError, SessionEndedError, TimeoutError, UnavailableError } from "../errors.js";
import type { Turn } from "../models.js";
import type { ReplyOptions, Session, SessionOptions, TurnOptions } from "../session.js";

/** A message of the user with the text of its turn, and the agent's reply. */
export interface Exchange {
  message: string;
  text: string;
  reply: string | undefined;
}

/** A message of a prompt, as most SDKs take it. */
export interface PromptMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** A message for the agent. */
export interface Question {
  /** The whole prompt: the system prompt with the snapshot, earlier exchanges, and the message with the text of its turn. */
  messages: PromptMessage[];
  message: string;
  /** For loads and outcomes of skills, and to taint it before the agent reads content of others. */
  session: Session;
  /** Rounds of the model that the message may take. */
  maxTurns: number;
  /** Aborts when the user interrupts. */
  signal: AbortSignal;
}

export interface TalkOptions {
  /** Your system prompt; the snapshot follows it. */
  system?: string;
  /** Terms of sessions, except key and channel. */
  session?: Omit<SessionOptions, "key" | "channel">;
  /** Exchanges that stay in the prompt (default: 40). Half of them go when there are more, and later turns may show their texts again. */
  historyLength?: number;
}

export type Reply = Pick<ReplyOptions, "rounds" | "toolCalls"> & { text: string };

/** The conversation of one user on one channel. */
export class Talk {
  readonly #exchanges = new Map<number, Exchange>();

  private constructor(
    private session: Session,
    private readonly options: TalkOptions,
  ) {}

  /** Opens the session of a user, or resumes it with its earlier exchanges. */
  static async open(kh: Knowhow, user: string, channel: "sms" | "voice", options: TalkOptions): Promise<Talk> {
    const talk = new Talk(await kh.withUser(user).session({ ...options.session, key: user, channel }), options);
    if (talk.session.record.turns > 0) await talk.#restore();
    return talk;
  }

  /** Takes a turn, has it answered, and logs the reply. A message that was answered before gets the same reply. */
  async ask(message: string, turn: TurnOptions & { turnKey: string }, answer: (question: Question) => Promise<Reply>): Promise<string> {
    const taken = await this.#turn(message, turn).catch((error: unknown) => {
      if (turn.timeoutMs && [TimeoutError, ConnectionError, UnavailableError].some((late) => error instanceof late)) return undefined;
      throw error;
    });
    if (taken && taken.turn > this.#exchanges.size + 1) await this.#restore(); // another process answered messages
    const known = taken && this.#exchanges.get(taken.turn);
    if (known?.reply !== undefined) return known.reply;
    const { text, ...report } = await answer(this.#question(message, taken, turn.signal ?? new AbortController().signal));
    // A late turn is logged too, and is in later prompts.
    const { timeoutMs: _, signal: __, ...unhurried } = turn;
    const { turn: number, text: block } = taken ?? (await this.#turn(message, unhurried));
    await this.session.reply(text.replaceAll("\0", "") || "(no text)", report);
    this.#exchanges.set(number, { message, text: block, reply: text });
    this.#shorten();
    return text;
  }

  /** Ends the session. */
  async end(): Promise<void> {
    await this.session.end();
  }

  async #turn(message: string, options: TurnOptions): Promise<Turn> {
    try {
      return await this.session.turn(message, options);
    } catch (error) {
      if (error instanceof LogFullError) await this.session.end();
      else if (!(error instanceof SessionEndedError)) throw error;
      this.session = await this.session.reopen();
      this.#exchanges.clear(); // the summary of the previous session replaces them
      return this.session.turn(message, options);
    }
  }

  #question(message: string, turn: Turn | undefined, signal: AbortSignal): Question {
    const said = ({ message, text, reply }: Exchange): PromptMessage[] => [
      { role: "user", content: text ? `${message}\n\n${text}` : message },
      ...(reply === undefined ? [] : [{ role: "assistant" as const, content: reply }]),
    ];
    const last = { message, text: turn?.text ?? "", reply: undefined };
    const earlier = [...this.#exchanges].filter(([number, { message }]) => number !== turn?.turn && message !== "").map(([, exchange]) => exchange);
    const system = { role: "system" as const, content: this.session.system(this.options.system) };
    const maxTurns = turn?.max_turns ?? this.session.record.max_turns;
    return { messages: [system, ...earlier.flatMap(said), ...said(last)], message, session: this.session, maxTurns, signal };
  }

  async #restore(): Promise<void> {
    this.#exchanges.clear();
    for await (const { speaker, turn, text } of this.session.messages({ limit: 200 })) {
      const exchange = this.#exchanges.get(turn) ?? { message: "", text: "", reply: undefined };
      this.#exchanges.set(turn, speaker === "user" ? { ...exchange, message: text } : { ...exchange, reply: text });
    }
    const again = (turn: number) => this.session.getTurn(turn).catch((error: unknown) => (error instanceof AnswerGoneError ? { text: "" } : Promise.reject(error)));
    for (const [turn, exchange] of this.#exchanges) exchange.text = (await again(turn)).text;
    this.#shorten();
  }

  #shorten(): void {
    const limit = this.options.historyLength ?? 40;
    const said = [...this.#exchanges].filter(([, { message }]) => message !== "");
    if (said.length <= limit) return;
    for (const [turn, { reply }] of said.slice(0, -Math.ceil(limit / 2))) this.#exchanges.set(turn, { message: "", text: "", reply });
    this.session.resetContext();
  }
}

/** Returns the user of a telephone number. Callers without a number do not share a user. */
export function userOfNumber(number: string | undefined, otherwise: string): string {
  const withheld = /^$|anonymous|blocked|restricted|unavailable|unknown|^\+(266696687|2562533|7378742833|86282452253|8656696)$/i;
  return number && !withheld.test(number) ? number : otherwise;
}
