/** Knowhow for Twilio: a webhook for SMS, and the WebSocket of ConversationRelay for calls. */
import type { Knowhow } from "../client.js";
import { KnowhowError } from "../errors.js";
import { type Question, type Reply, Talk, type TalkOptions, userOfNumber } from "./talk.js";

export { type ConversationRelayOptions, ConversationRelay, type RelaySetup, type RelaySocket } from "./twilio_relay.js";
export type { Exchange, PromptMessage, Question, Reply, TalkOptions } from "./talk.js";

export interface SmsOptions extends TalkOptions {
  /** The auth token of the Twilio account, which signs requests. */
  authToken: string;
  /** The URL that Twilio calls, if a proxy gives requests another one. */
  url?: string;
  /** Answers a message, e.g. with a model. */
  answer: (question: Question) => Promise<string | Reply>;
  /** The user of a request (default: the number that it comes from). */
  userOf?: (parameters: Record<string, string>) => string;
}

/**
 * Returns the handler of a webhook for incoming SMS. Each number is a user with one conversation.
 *
 * The handler takes and returns the `Request` and `Response` of the web. It checks the signature. `MessageSid` is the turn's key, so a
 * message that Twilio delivers twice is answered once.
 */
export function smsWebhook(kh: Knowhow, options: SmsOptions): (request: Request) => Promise<Response> {
  if (!options.authToken) throw new KnowhowError("authToken is empty, so no request could be checked");
  const talks = new Map<string, Promise<Talk>>();
  const queues = new Map<string, Promise<unknown>>();

  async function respond(user: string, { Body = "", MessageSid = "" }: Record<string, string>): Promise<string> {
    const open = talks.get(user) ?? Talk.open(kh, user, "sms", options);
    talks.delete(user); // the map is in the order of use
    talks.set(user, open);
    if (talks.size > 1000) talks.delete(talks.keys().next().value!);
    try {
      const answered = async (question: Question) => replyOf(await options.answer(question));
      return await (await open).ask(Body.replaceAll("\0", "") || "(no text)", { turnKey: MessageSid }, answered);
    } catch (error) {
      talks.delete(user); // the next message reads the conversation again
      throw error;
    }
  }

  return async (request) => {
    const parameters = Object.fromEntries(new URLSearchParams(await request.text()));
    const signature = request.headers.get("x-twilio-signature") ?? "";
    const signed = { authToken: options.authToken, url: options.url ?? request.url, parameters, signature };
    if (!(await isSigned(signed))) return new Response("the signature is not valid", { status: 403 });
    const { From = "", MessageSid } = parameters;
    if (!From || !MessageSid) return new Response("this is no incoming message", { status: 400 });
    const user = options.userOf?.(parameters) ?? userOfNumber(From, MessageSid);
    // Messages of one user are answered in sequence.
    const turn = (queues.get(user) ?? Promise.resolve()).catch(() => {}).then(() => respond(user, parameters));
    queues.set(user, turn);
    const done = () => queues.get(user) === turn && queues.delete(user);
    const text = await turn.finally(done);
    const message = text ? `<Message>${escaped(text)}</Message>` : "";
    return new Response(`<?xml version="1.0" encoding="UTF-8"?><Response>${message}</Response>`, { headers: { "content-type": "text/xml; charset=utf-8" } });
  };
}

/** A request of Twilio, with its header `X-Twilio-Signature`. A WebSocket has no parameters. */
export interface SignedRequest {
  authToken: string;
  url: string;
  signature: string;
  parameters?: Record<string, string>;
}

/** Whether Twilio signed a request: HMAC-SHA1 of the URL and the sorted parameters. */
export async function isSigned({ authToken, url, parameters = {}, signature }: SignedRequest): Promise<boolean> {
  if (!authToken || !signature) return false;
  const names = Object.keys(parameters).sort();
  const text = url + names.map((name) => name + parameters[name]).join("");
  const key = await crypto.subtle.importKey("raw", bytes(authToken), { name: "HMAC", hash: "SHA-1" }, false, ["verify"]);
  const given = Uint8Array.from(Buffer.from(signature, "base64"));
  return crypto.subtle.verify("HMAC", key, given, bytes(text));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Returns the text for XML, which has no form for most control characters. */
function escaped(text: string): string {
  return text.replace(/[^\t\n\r -\uffff]/g, "").replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function replyOf(answer: string | Reply): Reply {
  return typeof answer === "string" ? { text: answer } : answer;
}
