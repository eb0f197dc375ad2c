import { isRuntimeState } from '@hermes/agent-core'
import { type Entry, estimateTokens, latestPrompt, liveEntries, type PromptEntry } from '@hermes/contracts/conversation'
import type { ToolDefinition } from '@hermes/contracts/tool'

/** One part of what a model is told besides what is said: a layer of the system text, a tool, the surroundings of a message. */
export interface PromptPart {
  readonly kind: 'system' | 'tool' | 'message'
  readonly name: string
  /** Where it comes from. */
  readonly source: string
  readonly text: string
  /** UTF-8. */
  readonly bytes: number
  readonly tokens: number
}

const BETWEEN_LAYERS = '\n\n'.length

/** The parts of a stored prompt, in the order they are sent; `null` of a session that asked no model yet. */
export function storedParts(entries: Parameters<typeof latestPrompt>[0]): readonly PromptPart[] | null {
  const prompt = latestPrompt(entries)
  return prompt && [...layersOf(prompt), ...toolParts(prompt.tools)]
}

function layersOf({ system, layers }: PromptEntry): readonly PromptPart[] {
  if (system === '') return []
  if (!layers) return [part('system', 'system text', 'stored without its parts', system)]
  let at = 0
  return layers.map(({ name, source, chars }) => {
    const text = system.slice(at, at + chars)
    at += chars + BETWEEN_LAYERS
    return part('system', name, source, text)
  })
}

/** What the newest message that told of them said of the surroundings; not part of the prompt, which never changes. */
export function messageParts(entries: readonly Entry[]): readonly PromptPart[] {
  const parts = liveEntries(entries).flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'user' ? entry.message.content : [],
  )
  const newest = parts.findLast((each) => isRuntimeState(each))
  return newest?.type === 'text' ? [part('message', 'runtime state', 'in a message, as of then', newest.text)] : []
}

/** One part for each definition. */
export function toolParts(tools: readonly ToolDefinition[]): readonly PromptPart[] {
  return tools.map((tool) => part('tool', tool.name, 'tool', JSON.stringify(tool)))
}

/** A part with its size. */
export function part(kind: PromptPart['kind'], name: string, source: string, text: string): PromptPart {
  return { kind, name, source, text, bytes: Buffer.byteLength(text), tokens: estimateTokens(text) }
}
