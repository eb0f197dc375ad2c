// Keys of the line beyond editing: stop, search, another editor, a line put aside.
import { execFileSync } from 'node:child_process'
import { appendFile, chmod, mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()

async function begin(env: Readonly<Record<string, string>> = {}): Promise<Terminal> {
  const args = ['--base-url', scene.server.baseUrl, '-m', 'test']
  const terminal = await openTerminal(args, { ...scene, columns: 80, env })
  await terminal.shows('/help for help')
  return terminal
}
async function say(terminal: Terminal, line: string): Promise<void> {
  await terminal.type(line)
  await terminal.press('Enter')
}
const sent = () => scene.server.requests.map(({ body }) => body.messages.at(-1)!.content)

/** An editor: a program that gets the file as its last argument. */
async function editor(script: string): Promise<string> {
  const path = join(scene.cwd, 'editor.sh')
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

needs('tmux', hasTmux)('keys of the line', () => {
  it('takes a line before the program has loaded, and asks about the folder all the same', async () => {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    await mkdir(join(scene.cwd, '.claude'))
    await mkdir(scene.home, { recursive: true, mode: 0o700 })
    await writeFile(join(scene.cwd, '.claude/settings.json'), '{}')
    // The first file that the program reads has nothing in it yet.
    const profile = join(scene.home, 'active_profile')
    execFileSync('mkfifo', [profile])
    const args = ['--base-url', scene.server.baseUrl, '-m', 'test']
    await using terminal = await openTerminal(args, { ...scene, columns: 80 })
    await terminal.shows('>')
    await terminal.type('yes pleasse')
    await terminal.press('BSpace', 'BSpace')
    await terminal.type('e, 日本 now')
    await terminal.press('Enter')
    expect(await terminal.shows(/> yes please,$/)).not.toContain('pleass')
    const file = await open(profile, 'w')
    await rm(profile)
    await file.close()
    const question = await terminal.shows('brings')
    expect(question).not.toContain('yes please')
    await terminal.press('n', 'Enter')
    const screen = await terminal.shows('Noted.')
    expect(sent()).toEqual(['yes please, 日本 now'])
    expect(screen.match(/yes please/g)).toHaveLength(1)
  })

  it('stops a run with Escape, keeps what was queued, and the session goes on', async () => {
    scene.server.setHandler(({ number }) =>
      number === 1
        ? { toolCalls: [{ name: 'terminal', args: { command: 'echo begun; sleep 600' } }] }
        : { text: 'Here again.' },
    )
    await using terminal = await begin()
    await say(terminal, 'Wait.')
    await terminal.shows('echo begun')
    await say(terminal, 'Then this.')
    await terminal.shows('queued: Then this.')
    await terminal.press('Escape')
    await terminal.shows(/Stopped\.[^>]*> Then this\./)
    await terminal.press('Enter')
    await terminal.shows('Here again.')
  })

  it('finds earlier lines with Ctrl-R, pastes as they were', async () => {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    await using terminal = await begin()
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`).join('\n')
    await terminal.type(`explain \u001B[200~${lines}\u001B[201~`)
    await terminal.press('Enter')
    await terminal.shows('Noted.')
    await say(terminal, 'Something else.')
    await expect.poll(() => sent().length).toBe(2)
    await terminal.press('C-r')
    await terminal.type('expl')
    await terminal.shows(/❯ explain \[Pasted 200 lines #1\]/)
    await terminal.press('Enter')
    await say(terminal, ' again')
    await expect.poll(() => sent().length).toBe(3)
    expect(sent()[2]).toBe(`explain ${lines} again`)
  })

  it('edits the line in $VISUAL, and loses nothing when that fails or does not wait', async () => {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    await using terminal = await begin({ VISUAL: await editor('sleep 1; printf " and longer" >> "$1"') })
    await terminal.type('short')
    await terminal.press('C-x', 'C-e')
    await terminal.shows('> short and longer')
    for (const [script, problem] of [
      ['exit 3', /The editor \([^)]*\)\s+failed/],
      ['exit 0', /returned\s+at\s+once\s+and\s+nothing\s+was\s+changed/],
    ] as const) {
      await editor(script)
      await terminal.press('C-g')
      await terminal.shows(problem)
      await terminal.shows('> short and longer')
    }
  })

  it('copies the last answer as it was written, and attaches an image that is dropped', async () => {
    scene.server.setHandler(() => ({ text: '**Noted**.' }))
    await using terminal = await begin()
    await say(terminal, '/copy')
    await terminal.shows('There are 0 answers so far.')
    await say(terminal, 'Hello.')
    await terminal.shows('Noted')
    await say(terminal, '/copy')
    await terminal.shows('Handed one line to the terminal')
    await terminal.type('\u001B[200~/tmp/a\\ shot.png\u001B[201~')
    await terminal.shows('> @file:"/tmp/a shot.png"')
  })

  it('puts a line aside for another one, and takes what is configured anew with /reload', async () => {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    await using terminal = await begin()
    await terminal.type('half a thought')
    await terminal.press('C-s')
    await terminal.shows('put aside: half a thought')
    await say(terminal, 'Quick question.')
    await terminal.shows(/Noted\.[^>]*> half a thought/)
    // What is configured meanwhile counts from /reload on, in the same session.
    const display = { keys: { stash: 'ctrl+t' }, skin: 'moon', timestamps: true, status_bar: { fields: ['model'] } }
    await appendFile(join(scene.home, 'config.yaml'), `display: ${JSON.stringify(display)}\n`)
    await terminal.press('C-u')
    await say(terminal, '/reload')
    await terminal.shows(/Read anew: .* On with test\.\ndisplay\.skin: there is no skin "moon"/)
    await terminal.type('another thought')
    await terminal.press('C-t')
    await terminal.shows('put aside: another thought')
    await say(terminal, 'And on.')
    await terminal.shows(/\n\d\d:\d\d > And on\.\n\nNoted\.|\d\d:\d\d > And on\.\n[^>]*Noted\./)
    const last = scene.server.requests.at(-1)!.body.messages
    expect(last.map(({ content }) => content)).toEqual(expect.arrayContaining(['Quick question.', 'And on.']))
    expect(await terminal.bar()).toBe('test')
    await terminal.press('C-u')
    await say(terminal, '/statusbar off')
    await expect.poll(() => terminal.bar()).toBeNull()
  })
})
