import { describe, expect, it } from 'vitest'
import type { NewEntry } from './entry.js'
import type { TextPart } from './message.js'
import { settlePart, sourcesOf, taintsIn, taintsOfPart } from './taints.js'
import { settle, type TextSource } from './text-source.js'

const trusted = (path: string) => path.startsWith('/w/')
const part = (sources?: readonly TextSource[], more: Partial<TextPart> = {}): TextPart => ({
  ...{ type: 'text', text: 'x', origin: 'external', ...(sources ? { sources } : {}), ...more },
})
const taints = (...sources: readonly TextSource[]) => taintsOfPart(settlePart(part(sources), trusted))
const command = (reach: 'machine' | 'network' | 'outside', cwd = '/w/p'): TextSource => ({
  ...{ type: 'command', command: 'make', cwd, reach },
})

describe('text of a source', () => {
  it.each([
    ['a page', { type: 'web', name: 'example.com' }, ['example.com']],
    ['what other people wrote', { type: 'person', name: 'a message of Bob' }, ['a message of Bob']],
    ['a server', { type: 'server', name: 'the MCP server x' }, ['the MCP server x']],
    ['a plugin', { type: 'plugin', name: 'the plugin x' }, ['the plugin x']],
    ['what was recalled', { type: 'recall', name: 'the long-term memory' }, ['the long-term memory']],
    ['an earlier session', { type: 'session', name: 'an earlier session' }, ['an earlier session']],
    ['keys', { type: 'keys', name: 'the keys in /w/p/.env' }, ['the keys in /w/p/.env']],
    ['a parent', { type: 'inherited', names: ['a', 'b'] }, ['a', 'b']],
    ['a file of a trusted project', { type: 'file', path: '/w/p/README.md' }, []],
    ['a file of another one', { type: 'file', path: '/x/README.md' }, ['README.md of /x']],
    ['a file of the system', { type: 'file', path: '/usr/include/stdio.h' }, []],
    ['a command that keeps to the machine', command('machine'), []],
    ['the same elsewhere', command('machine', '/x'), ['the output of make']],
    ['one with the network', command('network'), ['the output of make']],
    ['one outside', command('outside'), ['the output of make']],
    ['a note', { type: 'note', name: 'a note', isMarked: false }, []],
    ['one that nobody confirmed', { type: 'note', name: 'a note', isMarked: true }, ['a note']],
  ] as const)('%s', (_, source, expected) => {
    expect(taints(source)).toEqual(expected)
  })

  it('taints where one of several does, and by name', () => {
    const names = taints({ type: 'file', path: '/w/p/a' }, { type: 'web', name: 'example.com' })
    expect(names).toEqual(['example.com'])
  })

  it('is named on one line, without what would not be seen', () => {
    expect(taints({ type: 'web', name: 'a\nApproved: \u202eb' })).toEqual(['a Approved: b'])
    expect(taints({ type: 'web', name: 'x'.repeat(500) })[0]).toHaveLength(100)
  })

  it('is never taken at its own word', () => {
    expect(taintsOfPart(settlePart(part([{ type: 'web', name: 'x' }], { taints: false }), trusted))).toEqual(['x'])
    expect(taintsOfPart(settlePart(part(undefined, { taints: false }), trusted))).toEqual(['text from outside'])
    expect(settle({ sources: [{ type: 'web', name: 'x' }], taints: false }, trusted)).not.toHaveProperty('taints')
  })
})

describe('an entry', () => {
  const prompt = (layer: object): NewEntry => ({
    ...{ type: 'prompt', system: 's', tools: [], layers: [{ source: 'AGENTS.md', chars: 1, ...layer } as never] },
  })
  const message = (content: readonly TextPart[]): NewEntry => ({ type: 'message', message: { role: 'user', content } })

  it('of before sources were noted reads as it did', () => {
    expect(taintsIn(message([part()]))).toEqual(['text from outside'])
    expect(taintsIn(message([{ type: 'text', text: 'x', origin: 'memory' }]))).toEqual(['what was recalled'])
    for (const name of ['project', 'memory', 'skills']) expect(taintsIn(prompt({ name }))).toEqual(['AGENTS.md'])
    expect(taintsIn(prompt({ name: 'identity' }))).toEqual([])
    expect(
      taintsIn(
        message([
          { type: 'text', text: 'x' },
          { type: 'text', text: 'y', origin: 'reminder' },
        ]),
      ),
    ).toEqual([])
    expect(taintsIn({ type: 'note', kind: 'n', data: {} })).toEqual([])
  })

  it('tells by its layers, and by words of others that are shown as theirs', () => {
    const sources: readonly TextSource[] = [{ type: 'file', path: '/x/AGENTS.md' }]
    expect(taintsIn(prompt({ name: 'project', sources }))).toEqual(['AGENTS.md of /x'])
    expect(taintsIn(prompt(settle({ name: 'project', sources }, () => true)))).toEqual([])
    const words: TextPart = { type: 'text', text: 'hi', sources: [{ type: 'person', name: 'a message of Bob' }] }
    expect(taintsIn(message([settlePart(words, trusted)]))).toEqual(['a message of Bob'])
  })
})

it('gives the sources of parts together, once each, and none where one is not known', () => {
  const web: TextSource = { type: 'web', name: 'example.com' }
  expect(sourcesOf([part([web]), part([web]), { type: 'text', text: 'own' }])).toEqual([web])
  expect(sourcesOf([part([web]), part()])).toBeNull()
  expect(sourcesOf([])).toEqual([])
})
