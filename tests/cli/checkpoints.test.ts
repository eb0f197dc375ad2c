// Files before a turn and after it, through the built command: checkpoints by themselves, by tools, by hand, and sessions that branch.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseEvents, runCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal, type Terminal } from '../support/terminal.js'

const scene = useScene()
beforeEach(async () => {
  await mkdir(join(scene.cwd, 'data'), { recursive: true })
  await writeFile(join(scene.cwd, 'data', 'rows.csv'), 'a,b\n')
  await writeFile(join(scene.cwd, 'note.txt'), 'colour\n')
  await mkdir(scene.home, { recursive: true })
  await writeFile(join(scene.home, 'config.yaml'), 'auxiliary:\n  title_generation:\n    enabled: false\n')
})

const hermes = (...args: readonly string[]) => runCli(args, scene)
const chat = (query: string, ...more: readonly string[]) =>
  hermes('chat', '-q', query, '--base-url', scene.server.baseUrl, '-m', 'test', '--yolo', ...more)
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })
const read = (path: string) => readFile(join(scene.cwd, path), 'utf8')

describe('hermes checkpoints', () => {
  it('brings back what a turn destroyed, and undoes that again', async () => {
    scene.server.enqueue(call('terminal', { command: 'rm -r data && echo x > note.txt' }), { text: 'Cleaned.' })
    expect((await chat('Clean up.')).exitCode).toBe(0)
    expect(existsSync(join(scene.cwd, 'data'))).toBe(false)

    const listed = await hermes('checkpoints', 'list')
    expect(listed.stdout).toMatch(/^1 {2}.* 3 files {2}before: rm -r data && echo x > note\.txt\n$/)
    expect((await hermes('checkpoints', 'diff', '1')).stdout).toBe('- data\n- data/rows.csv\n~ note.txt\n')
    const restored = await hermes('checkpoints', 'restore', '1')
    expect(restored).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('The state before is checkpoint 2.'),
    })
    expect(restored.stdout).toMatch(
      /\nThe conversation .* is back too, before “Clean up\.”\. It goes on with: hermes -r /,
    )
    expect(await read('data/rows.csv')).toBe('a,b\n')
    expect(await read('note.txt')).toBe('colour\n')

    await hermes('checkpoints', 'restore', '2', 'note.txt')
    expect(await read('note.txt')).toBe('x\n')
    expect(existsSync(join(scene.cwd, 'data'))).toBe(true)
    expect((await hermes('checkpoints')).stdout).toMatch(/^ {3}3 .* MB {2}\/.*\/work\n$/)
    expect((await stat(join(scene.home, 'checkpoints', 'workspaces'))).mode & 0o777).toBe(0o700)
  })

  it('keeps the files before programs whose names tell nothing, and takes nothing for a turn that looks', async () => {
    await writeFile(join(scene.cwd, 'clean.sh'), 'rm -r data\n')
    scene.server.enqueue(
      call('terminal', { command: 'ls -la && cat note.txt' }),
      call('search_files', { pattern: 'colour' }),
      { text: 'Looked.' },
    )
    await chat('Look.')
    expect((await hermes('checkpoints', 'list')).stdout).not.toContain('before:')
    scene.server.enqueue(call('terminal', { command: 'bash clean.sh' }), { text: 'Cleaned.' })
    await chat('Clean up.')
    expect(existsSync(join(scene.cwd, 'data'))).toBe(false)
    expect((await hermes('checkpoints', 'list')).stdout).toContain('before: bash clean.sh')
    await hermes('checkpoints', 'restore', '1')
    expect(await read('data/rows.csv')).toBe('a,b\n')
    const code = "import { rmSync } from 'node:fs'\nrmSync('data', { recursive: true })"
    scene.server.enqueue(call('execute_code', { language: 'javascript', code }), { text: 'Cleaned.' })
    await chat('Clean up again.')
    expect((await hermes('checkpoints', 'list')).stdout).toMatch(/before: .*node/)
  })

  it('keeps what the person edited after the turn and names what cannot be told apart', async () => {
    await writeFile(join(scene.cwd, 'long.txt'), 'one\ntwo\nthree\nfour\nfive\n')
    scene.server.enqueue(
      call('write_file', { path: 'note.txt', content: 'agent\n' }),
      call('write_file', { path: 'long.txt', content: 'ONE\ntwo\nthree\nfour\nfive\n' }),
      { text: 'Done.' },
    )
    await chat('Write.')
    await writeFile(join(scene.cwd, 'note.txt'), 'agent, then me\n')
    await writeFile(join(scene.cwd, 'long.txt'), 'ONE\ntwo\nthree\nfour\nFIVE\n')
    await writeFile(join(scene.cwd, 'mine.txt'), 'mine\n')
    const restored = await hermes('checkpoints', 'restore', '1')
    expect(restored.exitCode).toBe(1)
    expect(restored.stdout).toContain('Left as they are (1): note.txt – it was edited since')
    expect(await read('note.txt')).toBe('agent, then me\n')
    expect(await read('long.txt')).toBe('one\ntwo\nthree\nfour\nFIVE\n')
    expect(await read('mine.txt')).toBe('mine\n')
    expect((await hermes('checkpoints', 'restore', '1', '--all')).exitCode).toBe(0)
    expect(await read('note.txt')).toBe('colour\n')
    expect(existsSync(join(scene.cwd, 'mine.txt'))).toBe(false)
  })

  it('takes none in a turn that changes nothing, and none at all when switched off', async () => {
    scene.server.enqueue(call('read_file', { path: 'note.txt' }), call('terminal', { command: 'ls -la' }), {
      text: 'Seen.',
    })
    await chat('Look.')
    expect((await hermes('checkpoints', 'list')).stdout).not.toContain('before:')
    await rm(join(scene.home, 'checkpoints'), { recursive: true, force: true })
    await hermes('config', 'set', 'checkpoints.enabled', 'false')
    scene.server.enqueue(call('write_file', { path: 'note.txt', content: 'x\n' }), { text: 'Done.' })
    await chat('Write.')
    expect(existsSync(join(scene.home, 'checkpoints'))).toBe(false)
  })

  it('tells the person once when none can be taken, and goes on with the turn', async () => {
    await writeFile(join(scene.home, 'checkpoints'), 'a file in the way')
    scene.server.enqueue(
      call('write_file', { path: 'note.txt', content: 'x\n' }),
      call('write_file', { path: 'other.txt', content: 'y\n' }),
      { text: 'Done.' },
    )
    const result = await chat('Write.', '--json')
    expect(result.exitCode).toBe(0)
    const notices = parseEvents(result.stdout).filter((event) => event.type === 'notice')
    expect(notices).toMatchObject([
      { text: expect.stringMatching(/No checkpoint could be taken.*cannot be rolled back/) },
    ])
    expect(await read('other.txt')).toBe('y\n')
  })

  it('lets the model try one way and come back', async () => {
    scene.server.enqueue(
      call('checkpoint', { name: 'before A' }),
      call('write_file', { path: 'note.txt', content: 'way A\n' }),
      call('restore', { checkpoint: 'before A' }),
      { text: 'Back.' },
    )
    await chat('Try.', '-t', 'file,checkpoints')
    expect(await read('note.txt')).toBe('colour\n')
    const results = scene.server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'tool')
    expect(JSON.stringify(results[0])).toContain('Checkpoint 1 (before A)')
    expect(JSON.stringify(results[2])).toContain('Restored (1): note.txt')
  })

  it('removes them all on request, and says in one line what it does not know', async () => {
    scene.server.enqueue(call('write_file', { path: 'note.txt', content: 'x\n' }), { text: 'Done.' })
    await chat('Write.')
    expect(await hermes('checkpoints', 'restore', 'nothing')).toMatchObject({
      exitCode: 1,
      stderr: 'hermes: There is no checkpoint "nothing" of this folder. The newest are: 1.\n',
    })
    expect(await hermes('checkpoints', 'restore', '1', '../user')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^hermes: .*\/user is not a file or folder inside .*\/work\.\n$/),
    })
    expect((await hermes('checkpoints', 'prune', '--retention-days', '0', '--max-size-mb', '0')).stdout).toMatch(
      /^Removed 1 checkpoint, /,
    )
    expect((await hermes('checkpoints', 'clear')).exitCode).toBe(2)
    expect((await hermes('checkpoints', 'clear', '--force')).exitCode).toBe(0)
    expect((await hermes('checkpoints')).stderr).toMatch(/No checkpoints yet/)
  })

  it('comes back even when the whole folder is gone', async () => {
    scene.server.enqueue(call('write_file', { path: 'note.txt', content: 'x\n' }), { text: 'Done.' })
    await chat('Write.')
    await rm(join(scene.cwd, 'data'), { recursive: true })
    await rm(join(scene.cwd, 'note.txt'))
    expect((await hermes('checkpoints', 'restore', '1', '--all')).exitCode).toBe(0)
    expect(await read('data/rows.csv')).toBe('a,b\n')
  })
})

describe('hermes sessions fork and tree', () => {
  it('copies a conversation up to a message, goes on there, and shows where it came from', async () => {
    scene.server.setHandler(({ body }) => ({ text: `Answer ${body.messages.length}.` }))
    const { sessionId } = parseEvents((await chat('One.', '--json')).stdout)[0]!
    await chat('Two.', '-r', sessionId)
    await hermes('sessions', 'rename', sessionId, 'Plan')
    const shown = await hermes('sessions', 'show', sessionId)
    const [, at] = /assistant #(\d+)/.exec(shown.stdout)!
    const forked = await hermes('sessions', 'fork', 'Plan', '--at', at!)
    expect(forked.exitCode).toBe(0)
    const fork = forked.stdout.trim()
    await chat('Other two.', '-r', fork)
    const before = scene.server.requests[1]!.body.messages.slice(0, 3)
    const after = scene.server.requests[2]!.body.messages
    expect(JSON.stringify(after.slice(0, 3))).toBe(JSON.stringify(before))
    expect(after.at(-1)).toMatchObject({ content: 'Other two.' })
    const tree = await hermes('sessions', 'tree', fork)
    expect(tree.stdout).toBe(`${sessionId}  4 messages  Plan\n└─ ${fork}  4 messages  Plan #2\n`)
    expect((await hermes('sessions', 'tree')).stdout).toBe(tree.stdout)
    expect(await hermes('sessions', 'fork', 'Plan', '--at', '999999')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has no message #999999'),
    })
  })
})

needs('tmux', hasTmux)('branching at the keyboard', () => {
  const say = async (terminal: Terminal, line: string) => {
    await terminal.type(line)
    await terminal.press('Enter')
  }

  it('takes back a turn, and rolls files and conversation back together', async () => {
    scene.server.enqueue(
      { text: 'Hello.' },
      { text: 'Wrong.' },
      call('write_file', { path: 'note.txt', content: 'broken\n' }),
      { text: 'Written.' },
      { text: 'Fresh.' },
    )
    const args = ['--base-url', scene.server.baseUrl, '-m', 'test', '--yolo']
    await using terminal = await openTerminal(args, { ...scene, columns: 100 })
    await terminal.shows(/\n>$/)
    for (const [line, reply] of [
      ['Hi.', /Hello\.\n>$/],
      ['Bad idea.', /Wrong\.\n>$/],
      ['/undo', /Took back 2 messages, from “Bad idea\.” on\./],
      ['/checkpoint good', /Checkpoint 1 \(good\): 3 files/],
      ['Break it.', /Written\.\n>$/],
      ['/rollback', /2 {2}.*before: write .*note\.txt/],
      ['/rollback diff good', /~ note\.txt/],
      ['/rollback good', /The conversation is back too, before “Break it\.”/],
      ['Again.', /Fresh\.\n>$/],
      ['/branch Other', /Now in Other, with test\.\nThe other one stays: \/resume/],
      ['/undo', /Took back 2 messages, from “Again\.” on\./],
      ['/undo 0', 'It takes a number of messages'],
      ['/rollback nothing', 'There is no checkpoint "nothing"'],
    ] as const) {
      await say(terminal, line)
      await terminal.shows(reply)
    }
    expect(await read('note.txt')).toBe('colour\n')
    const { messages } = scene.server.requests.at(-1)!.body
    expect(messages.slice(1).map(({ content }) => content)).toEqual(['Hi.', 'Hello.', 'Again.'])
    expect((await hermes('sessions', 'tree')).stdout).toMatch(/10 messages.*\n└─ .*4 messages {2}Other\n/)
  })
})
