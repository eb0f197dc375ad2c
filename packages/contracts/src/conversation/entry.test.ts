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
})
