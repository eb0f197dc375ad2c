import { describe, expect, it } from 'vitest'
import { type Entry, project, userText } from '../conversation.js'

const at = (seq: number) => ({ seq, atMs: seq })

describe('project', () => {
  it('puts the newest system text first and leaves out what models do not see', () => {
    const entries: Entry[] = [
      { ...at(1), type: 'model', provider: 'p', model: 'm' },
      { ...at(2), type: 'message', message: userText('one') },
      { ...at(3), type: 'prompt', system: 'You are.', tools: [] },
      { ...at(4), type: 'call-start', callId: 'c', toolName: 't' },
      { ...at(5), type: 'note', kind: 'run.end', data: {} },
    ]
    expect(project(entries)).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'You are.' }] },
      userText('one'),
    ])
  })

  it('replaces what was compacted by its summary and keeps the entries themselves', () => {
    const entries: Entry[] = [
      { ...at(1), type: 'message', message: userText('old') },
      { ...at(2), type: 'message', message: userText('new') },
      { ...at(3), type: 'compaction', upToSeq: 1, summary: 'They said old.' },
    ]
    const projected = project(entries)
    expect(projected).toHaveLength(2)
    expect(projected[0]).toMatchObject({
      role: 'user',
      content: [{ text: expect.stringContaining('They said old.'), origin: 'reminder' }],
    })
    expect(projected[1]).toEqual(userText('new'))
  })

  it('keeps the head, repeats the request and shortens results where a compaction says so', () => {
    const result = (seq: number, text: string, origin?: 'external'): Entry => ({
      type: 'message',
      seq,
      atMs: 0,
      message: {
        role: 'tool',
        callId: `c${seq}`,
        toolName: 'terminal',
        content: [{ type: 'text', text, ...(origin ? { origin } : {}) }],
      },
    })
    const text = (seq: number, text: string): Entry => ({ type: 'message', seq, atMs: 0, message: userText(text) })
    const entries: Entry[] = [
      text(1, 'first'),
      text(2, 'gone'),
      text(3, 'the request'),
      result(4, 'gone too'),
      result(5, 'very long', 'external'),
      {
        type: 'compaction',
        seq: 6,
        atMs: 0,
        upToSeq: 4,
        headUpToSeq: 1,
        repeatedSeqs: [3],
        shortened: [{ seq: 5, text: 'short' }],
        summary: 'what was',
      },
    ]
    const [head, summary, request, shortened, ...rest] = project(entries)
    expect(head).toEqual(userText('first'))
    expect(summary).toMatchObject({ role: 'user', content: [{ text: expect.stringContaining('what was') }] })
    expect(request).toEqual(userText('the request'))
    expect(shortened).toMatchObject({ callId: 'c5', content: [{ type: 'text', text: 'short', origin: 'external' }] })
    expect(rest).toEqual([])
  })
})
