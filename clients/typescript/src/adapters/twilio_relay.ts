import type { Knowhow } from "../client.js";
import { type Question, Talk, type TalkOptions, userOfNumber } from "./talk.js";

/** The part of a WebSocket that is needed, as the package `ws` has it. */
export interface RelaySocket {
  send(data: string): void;
  on(event: "message", listener: (data: { toString(): string }) => void): unknown;
  on(event: "close", listener: () => void): unknown;
}

export interface ConversationRelayOptions extends TalkOptions {
  /** Answers the caller, e.g. with a model. Each yielded text is spoken at once. */
  answer: (question: Question) => AsyncIterable<string> | Promise<string>;
  /** Milliseconds that the service may search (default: 150). */
  deadlineMs?: number;
  /** Milliseconds after which the agent speaks without the turn's text (default: 800). */
  timeoutMs?: number;
  /** The user of a call (default: the caller's number; without one the call itself). */
  userOf?: (setup: RelaySetup) => string;
  /** Reports a message that could not be processed. */
  onError?: (error: unknown) => void;
}

/** The message that begins a call. */
export interface RelaySetup {
  callSid: string;
  from: string;
  customParameters?: Record<string, string>;
}

type Incoming =
  | ({ type: "setup" } & RelaySetup)
  | { type: "prompt"; voicePrompt: string; last?: boolean }
  | { type: "interrupt"; utteranceUntilInterrupt: string }
  | { type: "error"; description: string }
  | { type: "dtmf" };

/** An answer in progress, and the words that the caller heard before interrupting. */
type Speaking = { abort: AbortController; heard: string | undefined };

/**
 * A call over ConversationRelay. Each number is a user, each call a session, which ends with the call.
 *
 * ```ts
 * server.on("connection", (socket) => new ConversationRelay(kh, socket, { answer }));
 * ```
 *
 * Check the signature of the request that opens the socket with `isSigned`.
 */
export class ConversationRelay {
  /** Resolves when the call is over and its session has ended. */
  readonly closed: Promise<void>;
  #talk: Promise<Talk> | undefined;
  #callSid = "";
  #prompts = 0;
  #heard = "";
  #queue: Promise<unknown> = Promise.resolve();
  #speaking: Speaking | undefined;

  constructor(
    private readonly kh: Knowhow,
    private readonly socket: RelaySocket,
    private readonly options: ConversationRelayOptions,
  ) {
    socket.on("message", (data) => {
      try {
        this.#receive(JSON.parse(data.toString()) as Incoming);
      } catch (error) {
        this.options.onError?.(error);
      }
    });
    this.closed = new Promise((resolve) => socket.on("close", () => void this.#close().finally(resolve)));
  }

  #receive(message: Incoming): void {
    if (message.type === "setup") {
      this.#callSid = message.callSid;
      const user = this.options.userOf?.(message) ?? userOfNumber(message.from, message.callSid);
      // Turns include the body of the best skill, which saves a tool call.
      const options = { ...this.options, session: { inlineTop: true, ...this.options.session } };
      this.#talk = Talk.open(this.kh, user, "voice", options);
      this.#talk.catch((error: unknown) => this.options.onError?.(error));
    } else if (message.type === "prompt") {
      this.#heard += message.voicePrompt;
      if (message.last === false) return;
      const [words, turnKey] = [this.#heard, `${this.#callSid}-${++this.#prompts}`];
      this.#heard = "";
      this.#interrupt(undefined);
      this.#queue = this.#queue.then(() => this.#respond(words, turnKey)).catch((error: unknown) => this.options.onError?.(error));
    } else if (message.type === "interrupt") {
      this.#interrupt(message.utteranceUntilInterrupt);
    } else if (message.type === "error") {
      this.options.onError?.(new Error(message.description));
    }
  }

  /** Stops the answer in progress. The log gets the words that the caller heard. */
  #interrupt(heard: string | undefined): void {
    if (!this.#speaking) return;
    this.#speaking.heard ??= heard;
    this.#speaking.abort.abort();
  }

  async #respond(words: string, turnKey: string): Promise<void> {
    const talk = await this.#talk;
    if (!talk) throw new Error("a prompt came before the setup");
    const { deadlineMs = 150, timeoutMs = 800 } = this.options;
    await talk.ask(words, { turnKey, deadlineMs, timeoutMs }, async (question) => {
      const speaking: Speaking = (this.#speaking = { abort: new AbortController(), heard: undefined });
      try {
        return { text: await this.#speak(question, speaking) };
      } finally {
        this.#speaking = undefined;
      }
    });
  }

  async #speak(question: Question, speaking: Speaking): Promise<string> {
    const { signal } = speaking.abort;
    let spoken = "";
    const say = (token: string, last: boolean) => !signal.aborted && this.socket.send(JSON.stringify({ type: "text", token, last }));
    const answer = this.options.answer({ ...question, signal });
    const tokens = answer instanceof Promise ? once(answer) : answer;
    try {
      for await (const token of tokens) {
        if (signal.aborted) break;
        say(token, false);
        spoken += token;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    say("", true);
    return speaking.heard ?? spoken;
  }

  async #close(): Promise<void> {
    this.#interrupt(undefined);
    try {
      await this.#queue;
      await (await this.#talk)?.end();
    } catch (error) {
      this.options.onError?.(error);
    }
  }
}

async function* once(answer: Promise<string>): AsyncGenerator<string> {
  yield await answer;
}
