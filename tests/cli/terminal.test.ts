// The CLI as a person sees it, in terminals of three widths.
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()
beforeEach(() => mkdir(join(scene.cwd, 'build'), { recursive: true }))

const model = () => ['--base-url', scene.server.baseUrl, '-m', 'test']
const open = (args: readonly string[], columns = 80, env: Record<string, string> = {}) =>
  openTerminal([...args, ...model()], { ...scene, columns, env })
const call = (command: string) => ({ toolCalls: [{ name: 'terminal', args: { command } }] })

/** Columns a line takes: emoji and East Asian characters take two. */
const width = (line: string) => [...line].reduce((sum, character) => sum + (character > '\u2E7F' ? 2 : 1), 0)

needs('tmux', hasTmux)('hermes in a terminal', () => {
  it('streams answers and keeps tool lines within the columns', async () => {
    const columns = 40
    await writeFile(join(scene.cwd, 'wide.txt'), `${'日本語'.repeat(60)}\n`)
    scene.server.enqueue(
      { text: 'Looking.', latencyMs: 5, ...call(`cat wide.txt; echo ${'long '.repeat(50)}; exit 3`) },
      { text: 'It is wide.' },
    )
    await using terminal = await open([], columns)
    await terminal.shows(/^> $|^>$/m)
    await terminal.type('Look.')
    await terminal.press('Enter')
    const screen = await terminal.shows(/It is wide\.\n+>/)
    expect(screen).toMatch(
      /> Look\.\n\nLooking\.\n\n✗ terminal {2}cat w.*… · exit 3 · .*s\n {2}日本語.*…\n {2}long.*…\n\nIt is wide\.\n/,
    )
    for (const line of (await terminal.screen()).split('\n')) expect(width(line), line).toBeLessThanOrEqual(columns)
  })

  it('takes a number as the answer to a question', async () => {
    const args = { question: 'Which colour?', choices: ['red', 'blue'] }
    scene.server.enqueue({ toolCalls: [{ name: 'clarify', args }] }, { text: 'Blue it is.' })
    await using terminal = await open(['-q', 'Paint.'])
    const screen = await terminal.shows('or type an answer')
    expect(screen).toBe(
      '? Which colour?\n❯ 1. red\n  2. blue\n  Space marks several, Enter takes them\n  or type an answer',
    )
    await terminal.type('2')
    expect(await terminal.shows('Blue it is.')).toContain('? Which colour?\n  → blue\n')
    expect(await terminal.exitCode()).toBe(0)
    expect(JSON.stringify(scene.server.requests[1]!.body.messages.at(-1))).toContain('blue')
  })

  it('stops a run at Ctrl-C, also while it asks, and comes back to the prompt', async () => {
    scene.server.enqueue(call('echo begun; sleep 600'), call('rm -rf build'))
    await using terminal = await open([])
    for (const [task, sign] of [
      ['Wait.', 'terminal  echo begun; sleep 600'],
      ['Clean up.', '[n] no'],
    ] as const) {
      await terminal.shows(/>$/)
      await terminal.type(task)
      await terminal.press('Enter')
      await terminal.shows(sign)
      await terminal.press('C-c')
      await terminal.shows(/Stopped\.\n>$/)
    }
    expect((await stat(join(scene.cwd, 'build'))).isDirectory()).toBe(true)
  })

  it('is plain where colours are unwanted and in a dumb terminal', async () => {
    scene.server.setHandler(() => ({ text: 'Plain \u001B[31mred\u001B[0m \u001B]0;title\u0007text.' }))
    const plain: readonly Record<string, string>[] = [{ NO_COLOR: '1' }, { TERM: 'dumb' }]
    for (const env of plain) {
      await using terminal = await open([], 80, env)
      await terminal.shows(/>$/)
      await terminal.type('Go.')
      await terminal.press('Enter')
      await terminal.shows(/Plain .*text\.\n+>/)
      expect(await terminal.colours()).toBe(false)
    }
  })
})
