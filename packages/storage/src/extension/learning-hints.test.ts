import type { JsonObject } from '@hermes/contracts'
import type { ToolResultEvent } from '@hermes/contracts/extension'
import { handlersOf } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { temporaryPath, temporaryStore } from '../__fixtures__/temporary-store.js'
import type { Storage } from '../storage.js'
import { learningHints } from './index.js'

interface Failure {
  readonly text: string
  readonly isError?: boolean
  readonly data?: JsonObject
}

/** What is said after a failing result of a tool; `null` for nothing. */
function hintsOf(storage: () => Promise<Storage>) {
  const [handler] = handlersOf([learningHints({ storage })])('tool-result')
  return async ({ text, isError = false, data }: Failure, name = 'terminal', more: { isRefused?: boolean } = {}) => {
    const outcome = { content: [{ type: 'text', text }], isError, ...(data ? { data } : {}) }
    const of = { session: { id: 'one that is not stored' }, tool: { name, toolset: name }, toolName: name }
    const event = { ...of, outcome, isRefused: false, ...more }
    const change = await handler!(event as unknown as ToolResultEvent)
    return change?.append?.map((part) => part.text).join('') ?? null
  }
}

describe('hints', () => {
  it('come at the end of a failure that an earlier one matches, whatever its numbers', async () => {
    const storage = await temporaryStore()
    const failing = hintsOf(async () => storage)
    await storage.learnings.save({
      pattern: 'EADDRINUSE: address already in use 127.0.0.1:3000',
      fix: 'End the old server.',
    })
    const hint = '\n[This looks like an earlier failure. What helped then: End the old server.]'
    const failure = {
      text: 'Error: listen EADDRINUSE: address already in use 127.0.0.1:8080\n  at …',
      data: { exit_code: 1 },
    }
    expect(await failing(failure)).toEqual(hint)
    expect(await failing({ ...failure, data: { exit_code: 0 } })).toBeNull()
    expect(await failing({ text: 'Another failure', isError: true })).toBeNull()
    expect(await failing(failure, 'learning')).toBeNull()
    expect(await failing(failure, 'terminal', { isRefused: true })).toBeNull()
    for (let i = 0; i < 2; i++) await failing(failure)
    expect(await failing(failure)).toContain('It came up 4 times: worth a skill.')
  })

  it('of one tool stay with it, and need more than a word', async () => {
    const storage = await temporaryStore()
    const failing = hintsOf(async () => storage)
    await storage.learnings.save({ pattern: 'no such file', errorType: 'read_file', fix: 'Look first.' })
    await storage.learnings.save({ pattern: 'failed', fix: 'Try harder.' })
    const failure = { text: 'failed: no such file', isError: true }
    expect(await failing(failure, 'patch')).toBeNull()
    expect(await failing(failure, 'read_file')).toContain('Look first.')
  })

  it('never make a failure worse', async () => {
    const failure = { text: 'failed', isError: true }
    expect(await hintsOf(() => Promise.reject(new Error('no store')))(failure)).toBeNull()
    const store = await temporaryStore({ path: temporaryPath() })
    await store.close()
    expect(await hintsOf(async () => store)(failure)).toBeNull()
  })
})
