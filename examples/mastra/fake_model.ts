// Stands in for a language model: it answers with the first step of the skill that the turn brought.
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";

/** Returns a model without a network. */
export function fakeModel(): MastraLanguageModelV2Mock {
  return new MastraLanguageModelV2Mock({
    doStream: async ({ prompt }) => {
      const delta = /1\. ([^\\"]+)/.exec(JSON.stringify(prompt.at(-1)))?.[1] ?? "I know no procedure for that.";
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue({ type: "text-start", id: "1" });
          controller.enqueue({ type: "text-delta", id: "1", delta });
          controller.enqueue({ type: "text-end", id: "1" });
          controller.enqueue({ type: "finish", finishReason: "stop", usage });
          controller.close();
        },
      });
      return { stream };
    },
  });
}
