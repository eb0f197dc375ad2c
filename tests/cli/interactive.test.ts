// A whole conversation at the keyboard: editing, typing during a run, questions, commands, resizing.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
beforeEach(() => mkdir(join(scene.cwd, 'build'), { recursive: true }))

/** A conversation, once it waits for a line. */
async function open(columns = 80, args: readonly string[] = []): Promise<Terminal> {
  const terminal = await openTerminal([...args, '--base-url', scene.server.baseUrl, '-m', 'test'], {
    ...scene,
    columns,
  })
  await terminal.shows(/\n>$/)
  return terminal
}
async function say(terminal: Terminal, line: string): Promise<void> {
  await terminal.type(line)
  await terminal.press('Enter')
}
/** Holds a run until `release` is called. */
function gate() {
  let release = (): void => undefined
  const opened = new Promise<void>((resolve) => (release = resolve))
  return { opened, release }
}
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })
const prompt = (request: number) => JSON.stringify(scene.server.requests[request]!.body.messages.at(-1))

needs('tmux', hasTmux)('a conversation at the keyboard', () => {
  it('edits a line of several rows with wide characters, and collapses a long paste to a placeholder, of which all is sent', async () => {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    await using terminal = await open(40)
    await terminal.type(`${'日本語 and more '.repeat(6)}end`)
    await terminal.press('C-j')
    await terminal.type('second linX')
    await terminal.press('BSpace')
    await terminal.type('e')
    await terminal.press('C-a', 'Up', 'C-a')
    await terminal.type('First: ')
    await terminal.press('Enter')
    const screen = await terminal.shows(/Noted\.\n>$/)
    const text = `First: ${'日本語 and more '.repeat(6)}end\nsecond line`
    expect(JSON.parse(prompt(0))).toMatchObject({ content: text })
    expect(screen).toContain(`> ${text.replace('\n', '\n  ')}\n\nNoted.`)
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n')
    await terminal.type(`\u001B[200~${lines}\u001B[201~`)
    await terminal.shows('> [Pasted 40 lines #1]')
    await terminal.press('Enter')
    await terminal.shows(/> \[Pasted 40 lines #1\]\n\nNoted\.\n>$/)
    expect(JSON.parse(prompt(1))).toMatchObject({ content: lines })
  })

  it('says how to go on with the session when it is left, and remembers its lines in a file nobody else reads', async () => {
    scene.server.setHandler(() => ({ text: 'Noted.' }))
    let id: string
    {
      await using terminal = await open()
      await say(terminal, 'First task.')
      await terminal.shows(/First task\.\n\nNoted\.\n>$/)
      await terminal.type('Second task.')
      await terminal.press('C-l')
      await terminal.shows(/> Second task\.$/)
      await terminal.press('Enter')
      await terminal.shows(/> Second task\.\n\nNoted\.\n>$/)
      await say(terminal, '/exit')
      id = /hermes -r (\S+)/.exec(await terminal.shows('[exit code 0]'))![1]!
    }
    expect((await stat(join(scene.home, 'history.jsonl'))).mode & 0o777).toBe(0o600)
    await using again = await open(80, ['-r', id])
    expect(await again.screen()).toContain('> Second task.\n  Noted.\n>')
    await again.press('Up', 'Up')
    await again.shows(/> First task\.$/)
    await again.press('Down')
    await again.shows(/> Second task\.$/)
  })

  it('gives back to the line what was queued when a run is stopped', async () => {
    scene.server.setHandler(() => call('terminal', { command: 'echo begun; sleep 600' }))
    await using terminal = await open()
    await say(terminal, 'Wait.')
    await terminal.shows('terminal  echo begun')
    await say(terminal, 'Then this.')
    await terminal.shows('queued: Then this.')
    await terminal.press('C-c')
    await terminal.shows(/Stopped\.\n> Then this\.$/)
    await terminal.press('C-c')
    await terminal.shows(/Stopped\.\n>$/)
  })

  it('keeps a question away from what is being typed', async () => {
    const { opened, release } = gate()
    scene.server.setHandler(async ({ number }) => {
      if (number === 1) await opened
      return number === 1 ? call('terminal', { command: 'rm -rf build' }) : { text: 'All right.' }
    })
    await using terminal = await open(60)
    await say(terminal, 'Clean up.')
    await terminal.type('say y')
    await terminal.shows('> say y')
    release()
    await terminal.shows(/❯ \[y\] yes, once/)
    await terminal.press('Escape')
    const screen = await terminal.shows(/All right\.\n> say y$/)
    expect(screen).toMatch(/deletes folders.*\n? *.*\n {2}→ no\n/)
    expect((await stat(join(scene.cwd, 'build'))).isDirectory()).toBe(true)
  })

  it('takes what begins as a line for a line, though its letters are answers, and allows more than once by Enter alone', async () => {
    scene.server.enqueue(call('terminal', { command: 'rm -rf build' }), { text: 'Gone.' }, { text: 'The end.' })
    await using terminal = await open()
    await say(terminal, 'Clean up.')
    await terminal.shows('❯ [y] yes, once')
    // One key at a time, as a person does it: `a` would allow it always, `y` once, Enter what is marked.
    for (const key of ['w', 'h', 'a', 't', 's', 'y']) await terminal.type(key)
    await terminal.shows(/❯ \[y\] yes, once[\s\S]*> whatsy/)
    await terminal.press('Enter')
    await terminal.shows(/❯ \[y\] yes, once(?![\s\S]*whatsy)/)
    await terminal.type('s')
    await terminal.shows('❯ [s] yes, for this session')
    expect((await stat(join(scene.cwd, 'build'))).isDirectory()).toBe(true)
    await terminal.press('Enter')
    await terminal.shows(/→ yes, for this session\n[\s\S]*The end\.\n>$/)
  })

  it('shows an edit as a diff', async () => {
    await writeFile(join(scene.cwd, 'a.txt'), `one\ntwo ${'long '.repeat(40)}\n`)
    scene.server.enqueue(call('patch', { path: 'a.txt', old_string: 'one', new_string: 'uno' }), { text: 'Edited.' })
    await using terminal = await open(40)
    await say(terminal, 'Edit.')
    expect(await terminal.shows(/Edited\.\n>$/)).toMatch(
      /✓ patch {2}a\.txt · \+1 −1 · \d.*s\n {2}1 - one\n {2}1 \+ uno\n {2}2 {3}two long[^\n]*…\n\nEdited\./,
    )
  })

  it('shows an answer once whose stream was cut twice in a row', async () => {
    const text = 'A kettle, a stove and a cat that sleeps on it.'
    const cut = { fault: 'cut', text, chunkSize: 6, afterChunks: 3 } as const
    scene.server.enqueue(cut, { ...cut, afterChunks: 2 }, { text, chunkSize: 6 })
    await using terminal = await open()
    await say(terminal, 'What is in the kitchen?')
    // The waits before it is asked again are 5 and 10 seconds.
    await expect.poll(() => scene.server.requests.length, { timeout: 60_000 }).toBe(3)
    const screen = await terminal.shows(/sleeps on it\.\n>$/)
    expect(screen.match(/kettle/g)).toHaveLength(1)
    expect(screen).toContain(text)
  }, 90_000)

  it('asks no more once YOLO is on, but keeps the hard floor', async () => {
    scene.server.enqueue(call('terminal', { command: 'rm -rf build' }), call('terminal', { command: 'rm -rf /' }), {
      text: 'Finished.',
    })
    await using terminal = await open()
    await say(terminal, '/yolo')
    await say(terminal, 'Clean up.')
    await terminal.shows(/Finished\.\n>$/)
    await expect(stat(join(scene.cwd, 'build'))).rejects.toThrow()
    expect(prompt(2)).toMatch(/Not permitted/)
  })

  it('keeps every line once, in order, while a command floods its output and the window changes size', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `Line ${index} of the answer.`)
    scene.server.enqueue(call('terminal', { command: 'seq 1 200000' }), {
      text: lines.join('\n'),
      chunkSize: 20,
      latencyMs: 5,
    })
    await using terminal = await open(80)
    await say(terminal, 'Flood.')
    for (const columns of [60, 100, 45, 120, 80]) {
      await terminal.resize(columns, 24)
      await terminal.type('x')
    }
    const screen = await terminal.shows(/Line 59 of the answer\.\n> xxxxx$/)
    expect(screen.match(/Line \d+ of the answer\./g)).toEqual(lines)
    expect(screen.match(/^>/gm)).toHaveLength(2)
    expect(screen).not.toContain('Ctrl-C stops')
  })

  it('takes interrupts that come as signals like those from the keyboard', async () => {
    scene.server.setHandler(() => call('terminal', { command: 'echo begun; sleep 600' }))
    await using terminal = await open()
    for (const round of [1, 2]) {
      await say(terminal, `Round ${round}.`)
      await terminal.shows(new RegExp(`Round ${round}\\.\\n {2}terminal {2}echo begun`))
      await terminal.signal('INT')
      // A busy machine may not have begun the call that stands there.
      await terminal.shows(new RegExp(`Round ${round}\\.\\n\\n✗ terminal .* (?:stopped|failed).*Stopped\\.\\n>$`, 's'))
    }
    await terminal.signal('TERM')
    expect(await terminal.exitCode()).toBe(143)
  })

  it('leaves the terminal as it was when it is told to end', async () => {
    await using terminal = await open()
    await terminal.press('C-c', 'C-c')
    expect(await terminal.exitCode()).toBe(0)
    await terminal.type('echoed')
    await terminal.shows('echoed')
    expect(await readFile(join(scene.home, 'history.jsonl'), 'utf8').catch(() => '')).toBe('')
  })
})
