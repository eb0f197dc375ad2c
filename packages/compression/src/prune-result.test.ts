import type { JsonObject } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { pruneResult } from './prune-result.js'

const long = `${'a line of output\n'.repeat(80)}Tests: 3 failed, 44 passed`

function pruned(name: string, args: JsonObject, text = long, isError = false): string {
  const result = { role: 'tool', callId: 'c', toolName: name, content: [{ type: 'text', text }], isError } as const
  return pruneResult(result, { type: 'tool-call', id: 'c', name, args, rawArgs: JSON.stringify(args) })
}

describe('pruneResult', () => {
  it.each([
    ['terminal', { command: 'npm test' }, 'ran `npm test` -> exit 0, 81 lines, 1386 characters, ending with: '],
    ['process', { action: 'log', session_id: 'p1' }, 'log of process p1: 81 lines, 1386 characters, ending with: '],
    ['execute_code', { code: 'print(1)' }, 'ran a program `print(1)`: 81 lines, 1386 characters, ending with: '],
    ['read_file', { path: 'a.ts', offset: 40 }, 'read a.ts from line 40 (81 lines, 1386 characters)'],
    ['write_file', { path: 'a.ts' }, 'changed a.ts (81 lines, 1386 characters of report)'],
    [
      'search_files',
      { pattern: 'x', path: 'src' },
      "searched for 'x' in src: 81 lines, 1386 characters, beginning with: a line",
    ],
    ['delegate_task', { goal: 'Mend it' }, "handed on 'Mend it': a line of output"],
    ['weather', { city: 'Oslo' }, 'Oslo: 81 lines, 1386 characters, beginning with: a line of output'],
  ])('puts a long result of %s in a line', (name, args, beginning) => {
    const line = pruned(name, args)
    expect(line.startsWith(beginning)).toBe(true)
    expect(line.length).toBeLessThan(1_200)
    if (beginning.endsWith('ending with: ')) expect(line).toMatch(/Tests: 3 failed, 44 passed$/)
  })

  it('tells how a command ended that failed', () => {
    expect(pruned('terminal', { command: 'npm test' }, `${long}\n[exit 1]`)).toContain('-> exit 1,')
    expect(pruned('terminal', { command: 'npm test' }, `${long}\n[interrupted by the user]`)).not.toContain('exit')
  })

  it('goes by what a tool gave, not by what the program noted on it', () => {
    const parts = [
      { type: 'text', text: long },
      { type: 'text', text: 'Faster, please.', origin: 'steer' },
      { type: 'text', text: '[approved by the user, this once]', origin: 'reminder' },
    ] as const
    const result = { role: 'tool', callId: 'c', toolName: 'terminal', content: parts } as const
    const call = { type: 'tool-call', id: 'c', name: 'terminal', args: { command: 'npm test' }, rawArgs: '' } as const
    const line = pruneResult(result, call)
    expect(line).toContain('-> exit 0,')
    expect(line).toMatch(/44 passed Faster, please\.$/)
  })

  it('keeps short results and what an error says', () => {
    expect(pruned('terminal', { command: 'ls' }, 'a.ts')).toBe('a.ts')
    expect(pruned('patch', { path: 'a.ts' }, 'no such text', true)).toBe('failed: no such text')
  })
})
