import type { JsonObject } from '@hermes/contracts'
import type { AssistantPart } from '@hermes/contracts/conversation'
import {
  type DatedEntry,
  joinAnswers,
  messageEntry,
  object,
  objects,
  optional,
  type Transcript,
  text,
  toMs,
  toolCall,
} from './transcript.js'

/** What Codex puts in front of a person's first words. */
const PUT_IN =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|INSTRUCTIONS|turn_aborted|user_shell_command)\b|# AGENTS\.md instructions)/

/** Whether a line is one of Codex' (`~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`), of its present form or the first. */
export function isCodexLine(line: JsonObject): boolean {
  if ('payload' in line)
    return /^(session_meta|response_item|event_msg|turn_context|compacted)$/.test(text(line['type']))
  return (
    typeof line['id'] === 'string' && typeof line['timestamp'] === 'string' && ('instructions' in line || 'git' in line)
  )
}

/**
 * A rollout of Codex: messages, calls, results and summaries of thoughts. Instructions and facts on the environment that it adds stay
 * out. `null` when nothing was said.
 * @see https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs (`ResponseItem`)
 */
export function readCodex(lines: readonly JsonObject[]): Transcript | null {
  const meta = metaOf(lines)
  const startedAtMs = toMs(meta['timestamp'], toMs(lines[0]?.['timestamp'], 0))
  const names = new Map<string, string>()
  const entries = lines.flatMap((line) => {
    if ('payload' in line && line['type'] !== 'response_item') return []
    const item = 'payload' in line ? object(line['payload']) : line
    return toEntries(item, names, toMs(line['timestamp'], startedAtMs))
  })
  if (entries.length === 0) return null
  const turns = lines.filter((line) => line['type'] === 'turn_context').map((line) => object(line['payload']))
  return {
    id: `codex-${text(meta['id'])}`,
    source: 'codex',
    cwd: optional(meta['cwd']),
    model: turns.map((turn) => optional(turn['model'])).findLast(Boolean),
    provider: optional(meta['model_provider']) ?? 'openai',
    startedAtMs,
    entries: joinAnswers(entries),
  }
}

function metaOf(lines: readonly JsonObject[]): JsonObject {
  const line = lines.find((candidate) => candidate['type'] === 'session_meta')
  return line ? object(line['payload']) : (lines[0] ?? {})
}

function toEntries(item: JsonObject, names: Map<string, string>, atMs: number): readonly DatedEntry[] {
  const callId = text(item['call_id'])
  const call = (name: string, input: unknown) => {
    names.set(callId, name)
    return says([toolCall(callId, name, input)])
  }
  const says = (content: readonly AssistantPart[]) =>
    content.length === 0 ? [] : [messageEntry(atMs, { role: 'assistant', content })]
  switch (item['type']) {
    case 'message':
      return message(item, atMs)
    case 'reasoning': {
      const thoughts = [...objects(item['summary']), ...objects(item['content'])].map((part) => text(part['text']))
      return says(thoughts.filter(Boolean).map((thought) => ({ type: 'reasoning', text: thought })))
    }
    case 'function_call':
      return call(text(item['name']), item['arguments'])
    case 'custom_tool_call':
      return call(text(item['name']), { input: text(item['input']) })
    case 'local_shell_call':
      return call('local_shell', object(item['action']))
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const content = [{ type: 'text' as const, text: outputOf(item['output']) }]
      return [messageEntry(atMs, { role: 'tool', callId, toolName: names.get(callId) ?? 'unknown', content })]
    }
    default:
      return []
  }
}

function message(item: JsonObject, atMs: number): readonly DatedEntry[] {
  const parts = objects(item['content'])
    .map((part) => text(part['text']))
    .filter(Boolean)
  if (item['role'] === 'assistant') {
    const content = parts.map((part) => ({ type: 'text' as const, text: part }))
    return content.length === 0 ? [] : [messageEntry(atMs, { role: 'assistant', content })]
  }
  const texts = parts.filter((part) => !PUT_IN.test(part))
  if (item['role'] !== 'user' || texts.length === 0) return []
  return [messageEntry(atMs, { role: 'user', content: texts.map((part) => ({ type: 'text', text: part })) })]
}

/** A text, JSON with the text in `output`, an object with it in `content`, or a list of parts. */
function outputOf(output: unknown): string {
  if (Array.isArray(output))
    return objects(output)
      .map((part) => text(part['text']))
      .join('\n')
  if (typeof output !== 'string') return outputOf(object(output)['content'] ?? '')
  if (!output.startsWith('{')) return output
  try {
    const inner: unknown = object(JSON.parse(output))['output']
    return typeof inner === 'string' ? inner : output
  } catch {
    return output
  }
}
