// Names and values of the conventions for generative AI, 1.41: https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai
import { HermesError } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import type { HookEvent, ModelCallEvent, ToolCallEvent } from '@hermes/contracts/extension'
import type { ModelFinish } from '@hermes/contracts/model'
import type { Attributes } from '@opentelemetry/api'

/** Providers that the conventions have another name for. */
const PROVIDERS: Readonly<Record<string, string>> = {
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  'azure-foundry': 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  'xai-oauth': 'x_ai',
  'openai-codex': 'openai',
}

const providerOf = ({ model: { provider } }: HookEvent) => PROVIDERS[provider] ?? provider

/** Of a run. */
export function ofAgent(event: HookEvent): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': providerOf(event),
    'gen_ai.request.model': event.model.model,
    'gen_ai.agent.name': 'hermes',
    'gen_ai.agent.id': event.agentPath.join('/'),
    'gen_ai.conversation.id': event.session.id,
    'hermes.platform': event.platform,
  }
}

/** Of a call of a model, before it. */
export function ofRequest(event: ModelCallEvent): Attributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerOf(event),
    'gen_ai.request.model': event.model.model,
    'gen_ai.conversation.id': event.session.id,
  }
}

/** Of what a model answered. Another model than the one that was asked may have. */
export function ofFinish({ message, usage, stamp }: ModelFinish): Attributes {
  return {
    'gen_ai.response.model': stamp.model,
    'gen_ai.response.finish_reasons': message.finishReason === undefined ? [] : [message.finishReason],
    ...ofUsage(usage),
  }
}

/** Tokens and, where the price is known, dollars. */
export function ofUsage(usage: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    ...(usage.costUsd === 'unknown' ? {} : { 'hermes.usage.cost_usd': usage.costUsd }),
  }
}

/** Of a call of a tool. */
export function ofTool(event: ToolCallEvent): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': event.tool.name,
    'gen_ai.tool.call.id': event.callId,
    'gen_ai.tool.type': 'function',
    'gen_ai.conversation.id': event.session.id,
  }
}

/** What of a call tells its kind, for figures: no ids, of which there is no end. */
export function ofCall(attributes: Attributes): Attributes {
  const kinds = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.tool.name']
  return Object.fromEntries(kinds.flatMap((name) => (name in attributes ? [[name, attributes[name]]] : [])))
}

/** The code of an error. Its words may hold anything. */
export function ofError(error: unknown, signal: AbortSignal): Attributes {
  if (signal.aborted) return { 'error.type': 'aborted' }
  return { 'error.type': HermesError.isInstance(error) ? error.code : '_OTHER' }
}
