// What stands on the screen of a conversation besides what was said: calls, the bar, ends of what runs in the background.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })

async function open(columns: number, args: readonly string[] = []): Promise<Terminal> {
  const flags = [...args, '--base-url', scene.server.baseUrl, '-m', 'test']
  const terminal = await openTerminal(flags, { ...scene, columns })
  await terminal.shows(/\n>$/)
  return terminal
}
async function say(terminal: Terminal, line: string): Promise<void> {
  await terminal.type(line)
  await terminal.press('Enter')
}

needs('tmux', hasTmux)('the screen of a conversation', () => {
  it('opens a failed call at its end, and /details shows all of it, of earlier ones too; a process in the background says when it has ended', async () => {
    const command = 'seq 1 40; echo broken >&2; exit 1'
    scene.server.enqueue(
      { toolCalls: ['echo left', command].map((line) => ({ name: 'terminal', args: { command: line } })) },
      { text: 'It failed.' },
    )
    await using terminal = await open(80)
    await say(terminal, 'Build.')
    const screen = await terminal.shows(/It failed\.\n>$/)
    expect(screen).toMatch(/✓ terminal {2}echo left · .*s\n✗ terminal {2}seq 1 40.* · exit 1 · .*s\n/)
    expect(screen).toMatch(/\n {2}… 33 earlier lines\n {2}34\n[\s\S]* {2}40\n {2}broken\n\nIt failed\./)
    await say(terminal, '/details')
    const all = await terminal.shows(
      /terminal · 1 of 2, newest first\ncommand seq 1 40; .*\nresult\n {2}1\n[\s\S]*\n>$/,
    )
    expect(all).toMatch(/\n {2}1\n {2}2\n {2}3\n[\s\S]* {2}broken\n {2}\[exit 1 · .*\]\n>$/)
    await say(terminal, '/details 2')
    await terminal.shows(/terminal · 2 of 2, newest first\ncommand echo left\nresult\n {2}left\n>$/)
    await say(terminal, '/details 3')
    await terminal.shows('There are not so many calls yet.')
    scene.server.enqueue(call('terminal', { command: 'read -t 1 line; exit 3', background: true }), {
      text: 'It runs.',
    })
    await say(terminal, 'Start it.')
    await terminal.shows(/It runs\.\n\nproc_\w+ has ended: read -t 1 line; exit 3 · exit 3 · .*s\n>$/)
  })

  it('has a bar below the line that tells what the session is, and none where there is no room', async () => {
    await mkdir(join(scene.cwd, '.git'))
    await writeFile(join(scene.cwd, '.git/HEAD'), 'ref: refs/heads/sprout\n')
    await runCli(['trust', 'add'], { home: scene.home, cwd: scene.cwd })
    scene.server.setHandler(() => ({ text: 'Noted.', usage: { inputTokens: 12_000, outputTokens: 10 } }))
    await using terminal = await open(120)
    const bar = (pattern: RegExp) => expect.poll(() => terminal.bar(), { timeout: 15_000 }).toMatch(pattern)
    await bar(/^test · .*work · sprout$|^test · .* · sprout$/)
    await say(terminal, 'Hello.')
    await bar(/^test · 12k tokens · cost unknown · |^test · \d+% of \S+ · /)
    await say(terminal, '/title Garden')
    await say(terminal, '/yolo')
    await bar(/ · yolo · Garden · /)
    await say(terminal, '/plan')
    await bar(/ · plan, yolo · /)
    await terminal.resize(120, 8)
    await expect.poll(() => terminal.bar(), { timeout: 15_000 }).toBeNull()
  })
})
