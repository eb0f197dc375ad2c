import { silentLogger, systemClock } from '@hermes/contracts'
import type { Message } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { SessionLog } from '../session/session.js'
import { createMemoryStore } from '../stores/memory-store.js'
import { findPrefixBreak, type Prefix, PrefixWatch } from './prefix-break.js'

const text = (of: string) => ({ type: 'text', text: of }) as const
const tool = (name: string, description = 'Reads.') => ({ name, description, parameters: { type: 'object' } })
const system: Message = { role: 'system', content: [text('Be brief.\n\n# Memory\nLikes é.\n\n# Project\nUse pnpm.')] }
const user: Message = { role: 'user', content: [text('hi')] }
const call: Message = {
  role: 'assistant',
  content: [{ type: 'tool-call', id: 'c', name: 'read_file', args: {}, rawArgs: '{}' }],
}
const result: Message = { role: 'tool', callId: 'c', toolName: 'read_file', content: [text('one')] }
const before: Prefix = { tools: [tool('read_file'), tool('terminal')], messages: [system, user, call, result] }
const copy = (prefix: Prefix): Prefix => structuredClone(prefix)
const replaced = (index: number, message: Message): Prefix => ({
  ...before,
  messages: before.messages.with(index, message),
})

describe('findPrefixBreak', () => {
  it('finds none when messages are added, or the last one gains parts, however the objects were made', () => {
    expect(findPrefixBreak(before, before)).toBeNull()
    expect(findPrefixBreak(before, copy({ ...before, messages: [...before.messages, user] }))).toBeNull()
    const grown: Message = { ...result, content: [text('one'), text('noted')] }
    expect(findPrefixBreak(before, copy(replaced(3, grown)))).toBeNull()
  })

  it.each<[string, Prefix, Prefix]>([
    [
      'the definition of the tool terminal',
      before,
      { ...before, tools: [tool('read_file'), tool('terminal', 'Runs.')] },
    ],
    ['the definition of the tool terminal', before, { ...before, tools: [tool('read_file')] }],
    ['the definition of the tool terminal', { ...before, tools: [tool('read_file')] }, before],
    [
      'the system text, in # Memory',
      before,
      replaced(0, { role: 'system', content: [text('Be brief.\n\n# Memory\nLikes ü.\n\n# Project\nUse pnpm.')] }),
    ],
    ['the system text', before, replaced(0, { role: 'system', content: [text('Be long.')] })],
    ['message 1, of the user', before, replaced(1, { role: 'user', content: [text('ho')] })],
    ['message 3, the result of read_file', before, replaced(3, { ...result, content: [text('two')] })],
    ['message 3, the result of read_file', before, { ...before, messages: before.messages.slice(0, 3) }],
  ])('names %s', (component, previous, next) => {
    expect(findPrefixBreak(previous, next)?.component).toBe(component)
    expect(findPrefixBreak(previous, copy(next))?.component).toBe(component)
  })

  it('counts bytes over all of the prefix and shows both sides', () => {
    const next = replaced(1, { role: 'user', content: [text('ho')] })
    const found = findPrefixBreak(before, next)!
    expect(found).toMatchObject({ before: 'i"}]}', after: 'o"}]}' })
    const bytes = (prefix: Prefix) =>
      Buffer.from([...prefix.tools, ...prefix.messages].map((line) => JSON.stringify(line)).join('\n'))
    const [old, now] = [bytes(before), bytes(next)]
    expect(found.byte).toBe(old.findIndex((byte, index) => byte !== now[index]))
  })
})

describe('SessionLog', () => {
  it('warns of a prefix that changed, with its owner, and only mentions one that was rewritten on purpose', async () => {
    const lines: unknown[] = []
    const record = (level: string) => (message: string, fields?: object) => lines.push({ level, message, ...fields })
    const log = new SessionLog({
      store: createMemoryStore(),
      session: { id: 's', source: 'test', cwd: '/' },
      owner: 'o',
      clock: systemClock,
      logger: { ...silentLogger, debug: record('debug'), warn: record('warn') },
      redact: (of) => of,
      dataIn: () => null,
    })
    await log.open(() => undefined)
    await log.watchPrefix(before)
    await log.watchPrefix(replaced(1, { role: 'user', content: [text('ho')] }))
    await log.append({ type: 'compaction', upToSeq: 0, summary: 'x' })
    await log.watchPrefix(before)
    expect(lines).toMatchObject([
      { level: 'warn', component: 'message 1, of the user', before: 'i"}]}', after: 'o"}]}' },
      { level: 'debug', component: 'message 1, of the user' },
    ])
    expect(log.entries).toMatchObject([
      { type: 'note', kind: 'prefix.break', data: { component: 'message 1, of the user' } },
      { type: 'compaction' },
    ])
    await log.release()
  })
})

it('a break that was meant is no warning', () => {
  const levels: string[] = []
  const logger = { ...silentLogger, debug: () => levels.push('debug'), warn: () => levels.push('warn') }
  const watch = new PrefixWatch(logger)
  watch.check(before, 0)
  watch.check({ ...before, messages: [system, user] }, 1)
  watch.check({ ...before, messages: [system, call] }, 1)
  watch.check({ ...before, messages: [system, call, result] }, 1)
  expect(levels).toEqual(['debug', 'warn'])
})
