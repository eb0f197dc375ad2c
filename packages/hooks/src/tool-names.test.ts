import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readAnswer } from './answer.js'
import { type HookDeclaration, isOnly } from './declarations.js'
import { EVENTS, WITHOUT_EFFECT } from './event-table.js'
import { argsFrom, callFor, namesOfTool } from './tool-names.js'

describe('a call as other agents know it', () => {
  it.each([
    ['claude', 'terminal', { command: 'ls', timeout: 5 }, { name: 'Bash', input: { command: 'ls', timeout: 5_000 } }],
    [
      'claude',
      'write_file',
      { path: 'a.txt', content: 'x' },
      { name: 'Write', input: { file_path: '/w/a.txt', content: 'x' } },
    ],
    [
      'claude',
      'patch',
      { path: '/a', old_string: 'x', new_string: 'y' },
      { name: 'Edit', input: { file_path: '/a', old_string: 'x', new_string: 'y' } },
    ],
    ['claude', 'mcp__fs__write', { a: 1 }, { name: 'mcp__fs__write', input: { a: 1 } }],
    ['codex', 'terminal', { command: 'ls' }, { name: 'Bash', input: { command: 'ls' } }],
    [
      'codex',
      'write_file',
      { path: 'a', content: 'x\ny' },
      { name: 'apply_patch', input: { command: '*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch' } },
    ],
    ['hermes', 'terminal', { command: 'ls' }, { name: 'terminal', input: { command: 'ls' } }],
  ] as const)('%s %s', (form, tool, args, expected) => {
    expect(callFor(form, tool, args, '/w')).toEqual(expected)
  })

  it('comes back with what a hook changed, and with nothing else', () => {
    const args = { path: 'a.txt', content: 'x' }
    const back = (form: 'claude' | 'codex', updated: object, tool = 'write_file') =>
      argsFrom(form, tool, {
        args: tool === 'write_file' ? args : { command: 'ls', timeout: 5 },
        cwd: '/w',
        updated: updated as never,
      })
    expect(back('claude', { file_path: '/w/a.txt', content: 'y' })).toEqual({ path: 'a.txt', content: 'y' })
    expect(back('claude', { file_path: '/w/b.txt', content: 'x', bogus: 1 })).toEqual({
      path: '/w/b.txt',
      content: 'x',
    })
    expect(back('claude', { command: 'ls -l', timeout: 9_000 }, 'terminal')).toEqual({ command: 'ls -l', timeout: 9 })
    expect(back('codex', { command: '*** Begin Patch' })).toBeNull()
  })

  it('is found by any of its names', () => {
    expect(namesOfTool('claude', 'terminal')).toEqual(['terminal', 'Bash'])
    expect(namesOfTool('codex', 'patch')).toEqual(['patch', 'apply_patch', 'Edit'])
    expect(namesOfTool('hermes', 'terminal')).toEqual(['terminal'])
    expect(isOnly('Bash(git *)', ['Bash'], ['git push'])).toBe(true)
    expect(isOnly('Bash(git:*)', ['Bash'], ['git push'])).toBe(true)
    expect(isOnly('Bash(git *)', ['Bash'], ['ls'])).toBe(false)
    expect(isOnly('mcp__*', ['mcp__fs__write'], [])).toBe(true)
  })
})

it('docs/hooks.md says at which events exit code 2 blocks, and what a matcher sees', async () => {
  const page = await readFile(new URL('../../../docs/hooks.md', import.meta.url), 'utf8')
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  for (const [event, row] of Object.entries(EVENTS.claude)) {
    const [, , , sees = '', code = ''] = rows.find((cells) => cells[1] === `\`${event}\`` && cells.length === 6) ?? []
    if (row.values && event !== 'StopFailure') expect(sees, event).toBe(row.values.join(', '))
    for (const form of ['claude', 'codex'] as const) {
      const own = EVENTS[form][event]
      if (!own) continue
      const hook = { form, event, row: own, command: 'x' } as HookDeclaration
      const { block } = readAnswer(hook, { exitCode: 2, stdout: '', stderr: 'no', timedOut: false })
      const isBlocking = code.startsWith('blocks') && !(form === 'codex' && code.includes('Codex'))
      expect([form, event, block]).toEqual([form, event, isBlocking ? 'no' : undefined])
    }
  }
})

it('docs/hooks.md names every event, and those without effect', async () => {
  const page = await readFile(new URL('../../../docs/hooks.md', import.meta.url), 'utf8')
  const names = [EVENTS, WITHOUT_EFFECT].flatMap((forms) =>
    Object.values(forms).flatMap((events) => Object.keys(events)),
  )
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
