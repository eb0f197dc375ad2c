import type { JsonObject } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { createStyle } from './style.js'
import { callLine, type EndedCall, renderCall } from './tool-call.js'

const style = { ...createStyle({ colors: false }), red: (text: string) => `R(${text})` }
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

function shown(toolName: string, summary: string, end: Partial<EndedCall> & { readonly text?: string }, columns = 80) {
  const { text = '', args = {}, ...rest } = end as typeof end & { readonly args?: JsonObject }
  const call = { toolName, isError: false, durationMs: 22, content: [{ type: 'text', text } as const], ...rest }
  return renderCall({ toolName, summary, args }, call, { style, columns }).split('\n')
}
const command = (data: JsonObject, columns?: number) => shown('terminal', 'npm test', { data }, columns)

it('leaves out how long a call took where there is no room for it', () => {
  const end = { data: { pid: 7 }, durationMs: 172 }
  const [row] = shown('terminal', 'npm run a-long-name', { args: { background: true }, ...end } as never, 40)
  expect(row).toBe('✓ terminal  npm run… · in the background')
})

describe('a call that went well', () => {
  it.each<[tool: string, summary: string, end: Parameters<typeof shown>[2], line: string]>([
    ['terminal', 'echo turn-1', { data: { exit_code: 0, output: lines(50) } }, '✓ terminal  echo turn-1 · 22 ms'],
    ['read_file', 'read a.txt', { text: '1|one\n2|two' }, '✓ read  a.txt · 2 lines · 22 ms'],
    ['read_file', 'read a.png', { data: { media_type: 'image/png' } }, '✓ read  a.png · 22 ms'],
    ['search_files', 'search for x in .', { data: { total_count: 7 } }, '✓ search  for x in . · 7 found · 22 ms'],
    [
      'todo_write',
      'update 3 tasks',
      { data: { summary: { total: 3, completed: 1 } } },
      '✓ todo_write  update 3 tasks · 1 of 3 done · 22 ms',
    ],
    [
      'delegate_task',
      'delegate: Count.',
      { data: [{ status: 'running' }] },
      '✓ delegate  Count. · in the background · 22 ms',
    ],
    [
      'terminal',
      'grep x',
      { data: { exit_code: 1, exit_code_meaning: 'no lines matched; not an error' } },
      '✓ terminal  grep x · no lines matched · 22 ms',
    ],
    ['other_tool', '', { text: 'a\nb' }, '✓ other_tool · 22 ms'],
  ])('is one line: %s %s', (tool, summary, end, line) => {
    expect(shown(tool, summary, end)).toEqual([line])
  })

  it.each([16, 20, 24, 40])('is no wider than a screen of %i columns', (columns) => {
    const [started, text] = [
      { toolName: 'terminal', summary: 'echo turn-1', args: {} },
      [{ type: 'text', text: 'x' } as const],
    ]
    const results: readonly JsonObject[] = [
      { exit_code: 0 },
      { exit_code: 2, exit_code_meaning: 'no such file or folder' },
    ]
    const rows = results.map((data) => {
      const end = { toolName: 'terminal', isError: false, content: text, data, durationMs: 2_200 }
      return renderCall(started, end, { style: createStyle({ colors: false }), columns })
    })
    expect(rows.filter((row) => row.length > columns)).toEqual([])
    expect(rows.map((row) => row.slice(0, 10))).toEqual(['✓ terminal', '✗ terminal'])
    expect(rows[1]).toMatch(/ · e/)
  })

  it('counts what was written, not what the tool says about it', () => {
    const end = { text: 'Wrote it.', args: { content: 'a\nb\nc\n' } }
    expect(shown('write_file', 'write hello.txt', end)).toEqual(['✓ write  hello.txt · 3 lines · 22 ms'])
  })

  it('shows what an edit changed', () => {
    const text = '--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n-one\n+uno\n+dos'
    expect(shown('patch', 'patch a.txt', { text })).toEqual([
      ...['✓ patch  a.txt · +2 −1 · 22 ms', '  1 R(- one)', '  1 + uno', '  2 + dos'],
    ])
  })

  it('keeps its outcome where the line is too narrow for all', () => {
    expect(shown('terminal', `echo ${'long '.repeat(40)}`, { data: { exit_code: 0 } }, 40)).toEqual([
      '✓ terminal  echo long long long… · 22 ms',
    ])
    expect(callLine({ toolName: 'terminal', summary: 'a\u001B[2J\nb', args: {} }, '', { style, columns: 80 })).toBe(
      'terminal  a b',
    )
  })
})

describe('a call that failed', () => {
  it('is opened at the end of what the command printed', () => {
    const opened = command({ exit_code: 1, output: lines(50) })
    expect(opened).toEqual([
      'R(✗) terminal  npm testR( · exit 1 · 22 ms)',
      '  … 42 earlier lines',
      ...Array.from({ length: 8 }, (_, index) => `  line ${43 + index}`),
    ])
    expect(command({ exit_code: 2, output: lines(9) })).toHaveLength(10)
  })

  it('says how much of the output was not kept', () => {
    const output = `${lines(20)}\n[… 1,234 bytes left out …]\n${lines(20)}`
    expect(command({ exit_code: 1, output })[1]).toBe('  … 32 earlier lines, and 1,234 bytes that were left out')
  })

  it.each<[JsonObject, string]>([
    [{ exit_code: null, timed_out: true }, 'timed out'],
    [{ exit_code: null, interrupted: true }, 'stopped'],
    [{ exit_code: null }, 'ended by a signal'],
    [
      { exit_code: 6, exit_code_meaning: 'the host name could not be resolved' },
      'exit 6: the host name could not be resolved',
    ],
  ])('says how a command ended: %o', (data, outcome) => {
    expect(command(data)).toEqual([`R(✗) terminal  npm testR( · ${outcome} · 22 ms)`])
  })

  it('shows the sentence for the person and not what the model is told to do', () => {
    const text = 'File a.txt was not found. Similar names: b.txt. Use search_files to look for it.'
    expect(shown('read_file', 'read a.txt', { isError: true, durationMs: 0, text })).toEqual([
      ...['R(✗) read  a.txtR( · failed)', 'R(  File a.txt was not found.)'],
    ])
    const no = 'Not permitted (recursive-delete): The user said no. Do not try the same in another way.'
    expect(shown('terminal', 'rm -rf x', { isError: true, durationMs: 0, text: no })).toEqual([
      'R(✗) terminal  rm -rf xR( · you said no)',
    ])
    const rule = 'Not permitted (hard-floor): it deletes the root folder. Say so.'
    expect(shown('terminal', 'rm -rf /', { isError: true, durationMs: 0, text: rule })).toEqual([
      ...['R(✗) terminal  rm -rf /R( · not permitted)', 'R(  it deletes the root folder.)'],
    ])
  })

  it('says which of several tasks did not come to an end, and why', () => {
    const data: readonly JsonObject[] = [
      { status: 'completed' },
      { status: 'interrupted', problem: 'The user ended it. It may be started again.' },
    ]
    expect(shown('delegate_task', 'delegate 2 tasks', { data })).toEqual([
      '✓ delegate  2 tasks · 1 interrupted · 22 ms',
    ])
    expect(shown('delegate_task', 'delegate: Count.', { data: data.slice(1), isError: true })).toEqual([
      ...['R(✗) delegate  Count.R( · interrupted · 22 ms)', 'R(  The user ended it.)'],
    ])
  })

  it('is named by its tool where nobody saw it begin', () => {
    const call = {
      toolName: 'terminal',
      isError: true,
      durationMs: 0,
      content: [{ type: 'text', text: 'Gone.' } as const],
    }
    expect(renderCall(undefined, call, { style, columns: 80 })).toBe('R(✗) terminalR( · failed)\nR(  Gone.)')
  })
})
