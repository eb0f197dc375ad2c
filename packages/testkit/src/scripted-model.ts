import type { AssistantMessage, AssistantPart, FinishReason } from '@hermes/contracts/conversation'
import { noUsage } from '@hermes/contracts/conversation'
import type { ModelClient, ModelEvent, ModelRequest } from '@hermes/contracts/model'

/** One scripted answer: text, calls, or a function that acts by itself. */
export type ScriptedStep =
  | {
      readonly text?: string
      readonly calls?: readonly (readonly [id: string, name: string, args: object | null])[]
      readonly finish?: FinishReason
    }
  | ((request: Omit<ModelRequest, 'model'>, signal: AbortSignal | undefined) => AsyncIterable<ModelEvent>)

/** A model client that answers from a script and keeps what it was asked. */
export function scriptedModel(
  steps: readonly ScriptedStep[],
): ModelClient & { readonly requests: Omit<ModelRequest, 'model'>[] } {
  const requests: Omit<ModelRequest, 'model'>[] = []
  return {
    provider: 'scripted',
    model: 'test-model',
    requests,
    async *stream(request, { signal }) {
      requests.push(structuredClone(request))
      const step = steps[requests.length - 1]
      if (!step) throw new Error(`No scripted turn ${requests.length}.`)
      if (typeof step === 'function') {
        yield* step(request, signal)
        return
      }
      if (step.text) yield { type: 'text-delta', text: step.text }
      yield finish(step.text, step.calls ?? [], step.finish)
    },
  }
}

/** The final event of an answer. */
export function finish(
  text: string | undefined,
  calls: readonly (readonly [string, string, object | null])[] = [],
  reason?: FinishReason,
): ModelEvent {
  const content: AssistantPart[] = text ? [{ type: 'text', text }] : []
  for (const [id, name, args] of calls) {
    content.push({
      type: 'tool-call',
      id,
      name,
      args: args as never,
      rawArgs: args === null ? '{"cut": "he' : JSON.stringify(args),
    })
  }
  const message: AssistantMessage = {
    role: 'assistant',
    content,
    finishReason: reason ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
  }
  return {
    type: 'finish',
    message,
    usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
    stamp: { provider: 'scripted', endpoint: '', model: 'test-model' },
  }
}
