// What servers really answered, each with the page it was found on, and the one thing that helps.
import { readFileSync } from 'node:fs'
import type { ErrorClass } from '@hermes/contracts/model'
import { describe, expect, it } from 'vitest'
import { classifyError, toTransportError } from './index.js'

/** What is done first about a failed call. `stop`: nothing helps but a person. */
type Remedy = 'wait' | 'key' | 'repair' | 'fallback' | 'compress' | 'stop'

/** `status` is 200 for an error in a body of success, `null` for one in a stream. */
type Row = [server: string, source: string, status: number | null, body: unknown, remedy: Remedy]

const ROWS = readFileSync(`${import.meta.dirname}/__fixtures__/real-errors.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

const PROVIDERS = [
  ...['OpenAI', 'Anthropic', 'Bedrock', 'Gemini', 'Groq', 'Together', 'Fireworks', 'DeepSeek', 'Mistral', 'OpenRouter'],
  ...['xAI', 'Cerebras', 'z.ai', 'Moonshot', 'MiniMax', 'DashScope', 'Ollama', 'vLLM', 'llama.cpp', 'LM Studio'],
]

/** As an SDK throws it; errors inside an answer come as they are. */
function thrown(status: number | null, body: unknown): unknown {
  if (status === null || status < 400)
    return typeof body === 'object' && body !== null && 'error' in body ? body : new Error(JSON.stringify(body))
  const inner = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  const text = (inner as { message?: string } | undefined)?.message ?? JSON.stringify(inner ?? body)
  return Object.assign(new Error(`${status} ${text}`), { status, error: inner, headers: new Headers() })
}

/** In the order in which the recovery goes through them. */
function remedyOf(verdict: ErrorClass): Remedy {
  const isRepair = !['refresh-credential', 'rebuild-client', undefined].includes(verdict.repair)
  if (isRepair) return 'repair'
  if (verdict.shouldRotateCredential && !verdict.retryable) return 'key'
  if (verdict.retryable) return 'wait'
  if (verdict.shouldCompress) return 'compress'
  return verdict.shouldFallback ? 'fallback' : 'stop'
}

describe('what servers answered', () => {
  it('is there of twenty providers, each answer once', () => {
    expect(PROVIDERS.filter((name) => !ROWS.some(([server]) => server === name))).toEqual([])
    expect(new Set(ROWS.map(([, source]) => source)).size).toBe(ROWS.length)
  })

  it.each<Row>(ROWS)('%s (%s) with %s: %j is met with %s', (_server, _source, status, body, remedy) => {
    const error = thrown(status, body)
    expect(remedyOf(classifyError(error))).toBe(remedy)
    const target = { provider: 'acme', baseUrl: 'https://api.acme.test/v1', model: 'm1' }
    expect(remedyOf(classifyError(toTransportError(error, target)))).toBe(remedy)
  })
})
