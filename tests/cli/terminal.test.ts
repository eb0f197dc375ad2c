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
  it.each([40, 80, 120])('streams answers and keeps tool lines within %i columns', async (columns) => {
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
      /> Look\.\nLooking\.\n\n✗ terminal {2}cat w.*… · exit 3 · .*s\n {2}日本語.*…\n {2}long.*…\n\nIt is wide\.\n/,
    )
    for (const line of (await terminal.screen()).split('\n')) expect(width(line), line).toBeLessThanOrEqual(columns)
  })

  it('asks before a dangerous command: y runs it, n does not', async () => {
    scene.server.enqueue(call('rm -rf build'), { text: 'Left alone.' }, call('rm -rf build'), { text: 'Removed.' })
    await using terminal = await open([], 40)
    for (const [answer, outcome] of [
      ['n', 'Left alone.'],
      ['y', 'Removed.'],
    ] as const) {
      await terminal.shows(/>$/)
      await terminal.type('Clean up.')
      await terminal.press('Enter')
      await terminal.shows(/❯ \[y\] yes, once\n.* {2}\[n\] no\n {2}\[.\] no, .*$/s)
      expect((await stat(join(scene.cwd, 'build'))).isDirectory()).toBe(true)
      await terminal.type(answer)
      await terminal.shows(outcome)
    }
    await expect(stat(join(scene.cwd, 'build'))).rejects.toThrow()
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

  it('leaves at Ctrl-C twice, at Ctrl-D and at /exit', async () => {
    const ways: readonly (readonly string[])[] = [['C-c', 'C-c'], ['C-d'], ['/exit', 'Enter']]
    for (const keys of ways) {
      await using terminal = await open([])
      await terminal.shows('/help for help')
      await terminal.press(...keys)
      expect(await terminal.exitCode(), keys.join(' ')).toBe(0)
    }
  })

  it('knows /help and /new, names what is unknown, types each key once, and shows with -c where it was', async () => {
    scene.server.setHandler(({ body }) => ({ text: `Answer to ${body.messages.length} messages.` }))
    await using terminal = await open([], 40)
    await terminal.shows(/>$/)
    for (const [line, reply] of [
      ['First', 'Answer to 2 messages.'],
      ['/hlep', /Unknown command \/hlep\. Did you mean\s\/help\?/],
      ['/help', /\/new +start a new session\n/],
      ['/new', 'A new session.'],
      ['Second', /Answer to 2 messages\.\n.*Answer to 2 messages\./s],
    ] as const) {
      await terminal.type(line)
      await terminal.press('Enter')
      await terminal.shows(reply)
      expect(await terminal.screen()).toContain(`\n> ${line}\n`)
    }
    await terminal.press('C-d')
    await terminal.exitCode()
    await using again = await open(['-c'], 40)
    const recap = await again.shows(/messages\.\n>$/)
    expect(recap).toContain('> Second\n  Answer to 2 messages.\n>')
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
