import type { Message } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { brokenOffAt, findContinuation, textsIn, unheardIn } from './history.js'

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const assistant = (text: string): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  finishReason: 'stop',
})
const reminder = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text, origin: 'reminder' }] })
const call: Message = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'Looking.' },
    { type: 'tool-call', id: 'a', name: 'look', args: {}, rawArgs: '{}' },
  ],
}
const result: Message = { role: 'tool', callId: 'a', toolName: 'look', content: [{ type: 'text', text: 'seen' }] }
const interrupted: Message = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'Once upon' },
    { type: 'text', text: '[interrupted]', origin: 'reminder' },
  ],
}

const continuation = (log: Message[], client: Message[], partial = false) =>
  findContinuation({
    log: textsIn(log),
    history: textsIn(client.slice(0, -1)),
    message: textsIn(client.slice(-1))[0]!,
    partial,
  })
const append = (missing: number) => ({ type: 'append', missing })

describe('findContinuation', () => {
  const log = [user('one'), assistant('1'), user('two'), assistant('2')]

  it('adds the new message alone when the log has all the rest', () => {
    expect(continuation([], [user('one')])).toEqual(append(0))
    expect(continuation(log, [...log, user('three')])).toEqual(append(0))
  })

  it('adds what the log lacks', () => {
    expect(continuation([], [...log, user('three')])).toEqual(append(4))
    expect(continuation(log.slice(0, 2), [...log, user('three')])).toEqual(append(2))
  })

  it('finds no way on when the log has said more, or something else', () => {
    expect(continuation(log, [user('one')])).toBeNull()
    expect(continuation(log, [...log.slice(0, 2), user('zwei'), assistant('2'), user('three')])).toBeNull()
    expect(continuation(log, [...log.slice(0, 3), assistant('3'), user('three')])).toBeNull()
    expect(continuation(log, [user('one'), user('two'), assistant('2'), user('three')])).toBeNull()
  })

  it('takes a reply around tool calls as one, whole or its last words, and does not mind whitespace and our notes', () => {
    const worked = [user('look'), call, result, reminder('go on'), assistant('All  seen.\n')]
    expect(continuation(worked, [user('look '), assistant('Looking.\n\nAll seen.'), user('next')])).toEqual(append(0))
    expect(continuation(worked, [user('look'), assistant('All seen.'), user('next')])).toEqual(append(0))
    expect(continuation(worked, [user('look'), assistant('Looking.'), user('next')])).toBeNull()
  })

  it('goes on without what was said by itself, and tells what the client has not heard', () => {
    const spoken = [user('begin'), assistant('It runs.'), reminder('Task: three.'), assistant('I heard: three.')]
    const [began, answered] = [user('begin'), assistant('It runs.')]
    expect(continuation(spoken, [began, answered, user('and?')])).toEqual(append(0))
    expect(continuation(spoken, [began, assistant('I heard: three.'), user('and?')])).toEqual(append(0))
    expect(continuation(spoken, [began, assistant('Something else.'), user('and?')])).toBeNull()
    expect(unheardIn(spoken, [began, answered])).toBe('I heard: three.')
    expect(unheardIn(spoken, [])).toBe('I heard: three.')
    expect(unheardIn(spoken, [began, assistant('It runs.\n\nI heard: three.')])).toBe('')
    const twice = [...spoken, reminder('Task: four.'), call, result, assistant('And four.')]
    expect(unheardIn(twice, [began, answered])).toBe('I heard: three.\n\nLooking.\n\nAnd four.')
    expect(continuation(twice, [began, answered, user('and?')])).toEqual(append(0))
    // An answer that failed has told nothing; one that came has.
    expect(unheardIn([...spoken, user('and?')], [began, answered])).toBe('I heard: three.')
    const since = [...spoken, user('and?'), assistant('Done.')]
    expect(unheardIn(since, [began, answered, user('and?'), assistant('I heard: three.\n\nDone.')])).toBe('')
    expect(unheardIn(since, [])).toBe('')
  })

  it('takes the beginning of a reply that broke off, or none at all', () => {
    const broken = [user('tell'), interrupted]
    expect(continuation(broken, [user('tell'), assistant('Once'), user('go on')])).toEqual(append(0))
    expect(continuation(broken, [user('tell'), user('go on')])).toEqual(append(0))
    expect(continuation(broken, [user('tell'), assistant('Twice'), user('go on')])).toBeNull()
  })

  it('resumes a message that was never answered', () => {
    expect(continuation([user('one')], [user('one')])).toEqual({ type: 'resume' })
    expect(continuation([...log, user('three')], [...log, user('three')])).toEqual({ type: 'resume' })
  })

  it('resumes a message whose answer broke off, and tells where that began', () => {
    const broken = [...log, user('tell'), interrupted]
    expect(continuation(broken, [...log, user('tell')])).toEqual({ type: 'resume' })
    expect(continuation(broken, [user('tell')], true)).toEqual({ type: 'resume' })
    expect(continuation(broken, [user('tell')])).toBeNull()
    expect(continuation([...log, user('tell'), assistant('Once')], [...log, user('tell')])).toBeNull()
    const entries = (messages: readonly Message[]) =>
      messages.map((message, index) => ({ type: 'message' as const, message, seq: index + 1, atMs: 0 }))
    expect(brokenOffAt(entries(broken))).toBe(broken.length)
    expect(brokenOffAt(entries([...broken, reminder('go on'), interrupted]))).toBe(broken.length)
    expect(brokenOffAt(entries(log))).toBeNull()
  })

  it('lets a client that names its session know only the end of it', () => {
    expect(continuation(log, [user('three')], true)).toEqual(append(0))
    expect(continuation(log, [user('two'), assistant('2'), user('three')], true)).toEqual(append(0))
    expect(continuation(log, [user('two'), assistant('2'), user('x'), assistant('y'), user('three')], true)).toEqual(
      append(2),
    )
    expect(continuation(log, [user('two'), assistant('3'), user('three')], true)).toBeNull()
    expect(continuation([], [user('two'), assistant('2'), user('three')], true)).toEqual(append(2))
  })

  it('tells images apart by their bytes', () => {
    const picture = (data: string): Message => ({
      role: 'user',
      content: [{ type: 'image', mediaType: 'image/png', data }],
    })
    const seen = [picture('AAAA'), assistant('A dot.')]
    expect(continuation(seen, [...seen, user('sure?')])).toEqual(append(0))
    expect(continuation(seen, [picture('BBBB'), assistant('A dot.'), user('sure?')])).toBeNull()
  })
})
