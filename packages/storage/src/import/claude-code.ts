import type { JsonObject } from '@hermes/contracts'
import type { AssistantPart, ToolResultPart, Usage, UserPart } from '@hermes/contracts/conversation'
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

const KINDS = new Set([
  'user',
  'assistant',
  'system',
  'summary',
  'custom-title',
  'ai-title',
  'file-history-snapshot',
  'queue-operation',
  'attachment',
  'progress',
])

/** Whether a line is one of Claude Code's (`~/.claude/projects/FOLDER/SESSION.jsonl`). */
export function isClaudeLine(line: JsonObject): boolean {
  if (!KINDS.has(text(line['type']))) return false
  return typeof line['sessionId'] === 'string' || typeof line['leafUuid'] === 'string' || 'snapshot' in line
}

/**
 * A transcript of Claude Code. Side conversations of its subagents and what it put in for the model's eyes stay out; an answer
 * that is spread over several lines, one for each block, becomes one message. `null` when nothing was said.
 * @see https://docs.claude.com/en/docs/claude-code (the format itself is not documented; read off files of versions 1.0 to 2.1)
 */
export function readClaudeCode(lines: readonly JsonObject[]): Transcript | null {
  const spoken = lines.filter(isSpoken)
  const first = spoken[0]
  if (!first) return null
  const names = new Map<string, string>()
  const startedAtMs = toMs(first['timestamp'], 0)
  const entries = spoken.flatMap((line) => toEntries(line, names, startedAtMs))
  if (entries.length === 0) return null
  return {
    id: `claude-code-${text(first['sessionId'])}`,
    source: 'claude-code',
    title: titleOf(lines),
    cwd: optional(first['cwd']),
    model: spoken
      .map((line) => optional(object(line['message'])['model']))
      .findLast((model) => model && model !== '<synthetic>'),
    provider: 'anthropic',
    startedAtMs,
    entries: joinAnswers(entries),
  }
}

function isSpoken(line: JsonObject): boolean {
  if (line['type'] !== 'user' && line['type'] !== 'assistant') return false
  return line['isSidechain'] !== true && line['isMeta'] !== true
}

function titleOf(lines: readonly JsonObject[]): string | undefined {
  const titles = ['customTitle', 'aiTitle', 'summary'].map((key) =>
    lines.map((line) => optional(line[key])).findLast(Boolean),
  )
  return titles.find(Boolean)
}

function toEntries(line: JsonObject, names: Map<string, string>, startedAtMs: number): readonly DatedEntry[] {
  const message = object(line['message'])
  const atMs = toMs(line['timestamp'], startedAtMs)
  const input = message['content']
  const blocks = typeof input === 'string' ? [{ type: 'text', text: input }] : objects(input)
  if (line['type'] === 'assistant') return answer(blocks, message, names, atMs)
  const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => result(block, names, atMs))
  const isSummary = line['isCompactSummary'] === true
  const content = blocks.flatMap((block) => toUserPart(block, isSummary))
  return content.length === 0 ? results : [...results, messageEntry(atMs, { role: 'user', content })]
}

function answer(blocks: readonly JsonObject[], message: JsonObject, names: Map<string, string>, atMs: number) {
  const content = blocks.flatMap((block): AssistantPart[] => {
    switch (block['type']) {
      case 'text':
        return [{ type: 'text', text: text(block['text']) }]
      case 'thinking':
        return [{ type: 'reasoning', text: text(block['thinking']) }]
      case 'tool_use':
        names.set(text(block['id']), text(block['name']))
        return [toolCall(text(block['id']), text(block['name']), block['input'])]
      default:
        return []
    }
  })
  return content.length === 0
    ? []
    : [messageEntry(atMs, { role: 'assistant', content }, usageOf(object(message['usage'])))]
}

function result(block: JsonObject, names: Map<string, string>, atMs: number): DatedEntry {
  const callId = text(block['tool_use_id'])
  const input = block['content']
  const content: readonly ToolResultPart[] =
    typeof input === 'string'
      ? [{ type: 'text', text: input }]
      : objects(input).flatMap((part) => toUserPart(part, false).filter(isResultPart))
  const isError = block['is_error'] === true ? { isError: true } : {}
  return messageEntry(atMs, { role: 'tool', callId, toolName: names.get(callId) ?? 'unknown', content, ...isError })
}

function isResultPart(part: UserPart): part is ToolResultPart {
  return part.type === 'text' || part.type === 'image'
}

function toUserPart(block: JsonObject, isSummary: boolean): UserPart[] {
  const source = object(block['source'])
  if (block['type'] === 'text' && text(block['text']) !== '')
    return [{ type: 'text', text: text(block['text']), ...(isSummary ? { origin: 'reminder' } : {}) }]
  if (block['type'] === 'image' && source['type'] === 'base64')
    return [{ type: 'image', mediaType: text(source['media_type']), data: text(source['data']) }]
  return []
}

function usageOf(usage: JsonObject): Usage | undefined {
  if (typeof usage['output_tokens'] !== 'number') return undefined
  const count = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0)
  const [read, written] = [count('cache_read_input_tokens'), count('cache_creation_input_tokens')]
  return {
    inputTokens: count('input_tokens') + read + written,
    outputTokens: count('output_tokens'),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: 0,
    costUsd: 'unknown',
  }
}
