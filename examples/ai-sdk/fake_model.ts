// Stands in for a language model: it loads the skill that a turn proposes, then answers with the skill's first step.
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";

type Part = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

/** Returns a model without a network. */
export function fakeModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      const last = JSON.stringify(prompt.at(-1));
      const found = /<skill name=\\?"([^"\\]+)|Relevant skills for this message: ([^ ,("\\]+)/.exec(last);
      const step = /1\. ([^\\"]+)/.exec(last)?.[1];
      const name = found?.[1] ?? found?.[2];
      const answer = step ?? "I know no procedure for that.";
      const said: Part[] =
        name && !step
          ? [{ type: "tool-call", toolCallId: crypto.randomUUID(), toolName: "skill_view", input: JSON.stringify({ name }) }]
          : [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: answer }, { type: "text-end", id: "1" }];
      const count = (total: number) => ({ total, noCache: total, cacheRead: 0, cacheWrite: 0, text: total, reasoning: 0 });
      const unified = said[0]!.type === "tool-call" ? "tool-calls" : "stop";
      const finish: Part = { type: "finish", finishReason: { unified, raw: undefined }, usage: { inputTokens: count(1), outputTokens: count(1) } };
      return { stream: simulateReadableStream({ chunks: [{ type: "stream-start", warnings: [] }, ...said, finish], chunkDelayInMs: null, initialDelayInMs: null }) };
    },
  });
}
