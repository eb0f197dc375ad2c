// Points that a run does not wait for, and those that no run belongs to.
import { HermesError, type Logger, silentLogger } from '@hermes/contracts'
import type { Command, CommandContext, Extension } from '@hermes/contracts/extension'
import type { ModelClient } from '@hermes/contracts/model'
import { scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { hook } from '../__fixtures__/hook.js'
import { createExtensionRegistry } from '../extension-registry/extension-registry.js'
import { createAgent } from '../index.js'

/** Answers in pieces, and after a failure of which half was shown. */
function faltering(): ModelClient {
  const { provider, model, stream } = scriptedModel([
    { calls: [['a', 'look', {}]], text: 'Let me look.' },
    { text: 'Done.' },
  ])
  let count = 0
  return {
    provider,
    model,
    async *stream(request, options) {
      if (count++ === 0) {
        yield { type: 'text-delta', text: 'Half' }
        yield { type: 'retry-wait', attempt: 1, delayMs: 5, reason: 'overloaded', message: 'Busy.', discard: true }
        yield { type: 'reasoning-delta', text: 'Hm.' }
      } else if (count > 2) throw new HermesError('Gone.', { code: 'transport.server_error' })
      for (const piece of 'Let') if (count === 1) yield { type: 'text-delta', text: piece }
      yield* stream(request, options)
    },
  }
}

it('an answer is told of in order while it comes, and what comes while a handler is at work is one text for it', async () => {
  const lines: string[] = []
  let release = () => undefined as void
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow: Extension = {
    name: 'slow',
    setup({ hooks }) {
      hooks.on('stream-start', async () => {
        lines.push('start')
        await held
      })
      hooks.on('stream-delta', async ({ kind, text }) => void lines.push(`${kind} ${text}`))
      hooks.on('stream-end', ({ text, isWhole }) => void lines.push(`end ${isWhole} ${text}`))
      hooks.on('model-error', ({ error, attempt, delayMs }) => void lines.push(`${error.code} ${attempt} ${delayMs}`))
      hooks.on('interim-message', ({ text }) => void lines.push(`beside ${text}`))
    },
  }
  const agent = createAgent({ model: faltering(), tools: [], extensions: [slow] })
  await agent.run('go').result
  expect(lines).toEqual(['start'])
  const failing = await agent.run('again').result
  release()
  await expect.poll(() => lines.at(-1)).toBe('transport.server_error 1 null')
  expect(failing.status).toBe('failed')
  expect(lines).toEqual([
    ...['start', 'text Half', 'end false Half', 'transport.overloaded 1 5', 'start', 'reasoning Hm.'],
    ...['text LetLet me look.', 'end true LetLet me look.', 'beside Let me look.'],
    ...['start', 'text Done.', 'end true Done.', 'transport.server_error 1 null'],
  ])
})

describe('a gate of commands', () => {
  const command = (name: string): Command => ({
    name,
    summary: 'x',
    run: () => ({ type: 'text', text: `ran ${name}` }),
  })
  const context = {
    caller: { platform: 'cli', user: 'me', isOwner: true, changes: [] },
    session: null,
    signal: new AbortController().signal,
  } as unknown as CommandContext
  const withGate = (gate: Extension, logger: Logger = silentLogger) =>
    createExtensionRegistry(
      [
        { name: 'own', setup: ({ commands }) => void ['deploy', 'stop'].map((name) => commands.add(command(name))) },
        gate,
      ],
      { logger },
    )
      .list('command')
      .map(
        ({ item }) =>
          async () =>
            item.run({ words: ['now'] }, context),
      )

  it.each([
    [
      'objects',
      hook('before-command', ({ command, platform }) => ({ type: 'block', reason: `No ${command} on ${platform}.` })),
      'No deploy on cli.',
    ],
    [
      'fails',
      hook('before-command', () => Promise.reject(new Error('boom'))),
      'test-before-command failed at it; the log says how.',
    ],
    [
      'answers nonsense',
      hook('before-command', () => 'maybe' as never),
      'test-before-command failed at it; the log says how.',
    ],
  ])('that %s keeps a command from running, and never what stops a run', async (_, gate, message) => {
    const [deploy, stop] = withGate(gate)
    await expect(deploy!()).rejects.toMatchObject({ code: 'command.blocked', message })
    await expect(stop!()).resolves.toEqual({ type: 'text', text: 'ran stop' })
  })
})
