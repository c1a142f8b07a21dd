/** A model of the AI SDK that follows a script. */
import assert from "node:assert/strict";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

export type CallOptions = Parameters<MockLanguageModelV4["doGenerate"]>[0];
type Content = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>["content"];
type StreamPart = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type Script = (options: CallOptions, round: number) => Content;

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
export const says = (text: string): Content => [{ type: "text", text }];
let ids = 0;
export const calls = (toolName: string, input: object): Content => [{ type: "tool-call", toolCallId: `call-${ids++}`, toolName, input: JSON.stringify(input) }];
const finishOf = (content: Content) => ({ unified: content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop", raw: undefined }) as const;

/** Returns a model that follows a script, with and without streaming. */
export function scripted(script: Script): MockLanguageModelV4 {
  let round = 0;
  return new MockLanguageModelV4({
    doGenerate: async (options) => {
      const content = script(options, round++);
      return { content, finishReason: finishOf(content), usage: USAGE, warnings: [] };
    },
    doStream: async (options) => {
      const content = script(options, round++);
      const parts: StreamPart[] = [{ type: "stream-start", warnings: [] }];
      for (const part of content) {
        if (part.type === "tool-call") parts.push(part);
        if (part.type !== "text") continue;
        const deltas = part.text.split(/(?<= )/).map((delta): StreamPart => ({ type: "text-delta", id: "1", delta }));
        parts.push({ type: "text-start", id: "1" }, ...deltas, { type: "text-end", id: "1" });
      }
      parts.push({ type: "finish", finishReason: finishOf(content), usage: USAGE });
      return { stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  });
}

/** Checks that each prompt begins with the prompt before, byte for byte, so that a prompt cache hits. */
export function assertCached(prompts: CallOptions["prompt"][]): void {
  for (let n = 1; n < prompts.length; n++) {
    const before = JSON.stringify(prompts[n - 1]).slice(0, -1);
    assert.equal(JSON.stringify(prompts[n]).slice(0, before.length), before);
  }
}
