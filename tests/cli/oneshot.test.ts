import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { CLI, cliEnv, parseEvents, runCli, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const model = () => ['--base-url', scene.server.baseUrl, '-m', 'test']
const chat = (
  args: readonly string[],
  extra: { readonly input?: string; readonly env?: Record<string, string> } = {},
) => runCli(['chat', ...args], { ...scene, ...extra })

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('hermes chat -q', () => {
  it('edits a file over real HTTP: the answer alone on stdout, progress on stderr, exit code 0', async () => {
    await writeFile(join(scene.cwd, 'note.txt'), 'colour\n')
    scene.server.enqueue(
      { text: 'Reading.', toolCalls: [{ name: 'read_file', args: { path: 'note.txt' } }] },
      { toolCalls: [{ name: 'patch', args: { path: 'note.txt', old_string: 'colour', new_string: 'color' } }] },
      { text: 'It says color now.' },
    )
    const result = await chat(['-q', 'Use American spelling.', ...model()])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'It says color now.\n' })
    expect(result.stderr).toContain('note.txt')
    expect(await readFile(join(scene.cwd, 'note.txt'), 'utf8')).toBe('color\n')
    expect(scene.server.violations).toEqual([])
  })

  // One wider character in a string makes the engine hold all of it at twice the size, in every request of the session.
  it('sends a prompt and definitions without wide characters, those of tools that are off by default too', async () => {
    scene.server.setHandler(() => ({ text: 'ok' }))
    await chat(['-q', 'Hello.', ...model()])
    await chat(['-q', 'Hello.', '-t', 'all', ...model()])
    for (const { body } of scene.server.requests) {
      const wide = JSON.stringify([body.messages[0], body.tools]).match(/.{0,30}[^\x00-\xff].{0,30}/)
      expect(wide?.[0]).toBeUndefined()
    }
  })

  it('keeps the prefix of every request, also across -c in a new process and after AGENTS.md changed', async () => {
    await writeFile(join(scene.cwd, 'AGENTS.md'), 'Use tabs.\n')
    scene.server.setHandler(({ body }) => {
      const requested = body.messages.findLastIndex((message) => message.role === 'user')
      const answered = body.messages.slice(requested).filter((message) => message.role === 'tool').length
      return answered < 3
        ? { toolCalls: [{ name: 'search_files', args: { pattern: `x${answered}`, path: '.' } }] }
        : { text: 'Done.' }
    })
    await chat(['-q', 'One.', ...model()])
    await writeFile(join(scene.cwd, 'AGENTS.md'), 'Use spaces.\n')
    expect((await chat(['-c', '-q', 'Two.', ...model(), '-t', 'file'])).exitCode).toBe(0)
    expect(scene.server.requests).toHaveLength(8)
    for (let index = 1; index < scene.server.requests.length; index++) {
      expect(
        checkPrefix(scene.server.requests[index - 1]!, scene.server.requests[index]!),
        `request ${index + 1}`,
      ).toBeNull()
    }
  })

  it('goes on with -r by title, id and unique start of an id, and says what is near when nothing fits', async () => {
    scene.server.setHandler(() => ({ text: 'ok' }))
    const events = parseEvents((await chat(['-q', 'Hi.', ...model(), '--json'])).stdout)
    const { sessionId } = events[0]!
    expect((await chat(['-r', sessionId.slice(0, -2), '-q', 'More.', ...model()])).exitCode).toBe(0)
    expect(scene.server.requests[1]!.body.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ])
    const missing = await chat(['-r', 'nothing like it', '-q', 'More.', ...model()])
    expect(missing).toMatchObject({ exitCode: 2, stdout: '' })
    expect(missing.stderr).toMatch(/There is no session "nothing like it"/)
  })

  it('makes a session of a title that is not there with --create-if-missing, and goes on with it the next time', async () => {
    scene.server.setHandler(() => ({ text: 'ok' }))
    const ask = () => chat(['-r', 'the boat', '--create-if-missing', '-q', 'Hi.', ...model(), '--json'])
    const [first, second] = [await ask(), await ask()].map(({ stdout }) => parseEvents(stdout)[0]!.sessionId)
    expect(second).toBe(first)
    expect((await runCli(['sessions', 'list'], scene)).stdout).toContain('the boat')
    expect(await chat(['--create-if-missing', '-q', 'Hi.', ...model()])).toMatchObject({ exitCode: 2 })
  })

  it('ends a run once its time by the clock is over, and says how to go on', async () => {
    scene.server.setHandler(() => ({ fault: 'stall', text: 'Well' }))
    const ended = await chat(['-q', 'Hi.', '--run-budget', '0.2', ...model()])
    expect(ended).toMatchObject({ exitCode: 3 })
    expect(ended.stderr).toContain('The time for this run, 0.2 seconds, is over. Continue the session to go on.')
    expect(await chat(['-q', 'Hi.', '--run-budget', '0', ...model()])).toMatchObject({ exitCode: 2 })
  })

  it('brings the skills along that -s or /NAME names, and asks nothing without one of them', async () => {
    const refused = await chat(['-s', 'git-bisec, nosuch', '-q', 'Hi.', ...model()])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /There is no skill "git-bisec"\. Did you mean git-bisect\? There is no skill "nosuch"/,
    )
    expect(scene.server.requests).toHaveLength(0)
    scene.server.enqueue({ text: 'Found.' })
    expect(await chat(['-s', 'git-bisect', '-q', 'Hi.', ...model()])).toMatchObject({ exitCode: 0 })
    expect(JSON.stringify(scene.server.requests[0]!.body.messages)).toContain('git bisect run')
    scene.server.enqueue({ text: 'Found.' })
    expect(await chat(['-q', '/git-bisect Where is it?', ...model()])).toMatchObject({ exitCode: 0 })
    expect(JSON.stringify(scene.server.requests[1]!.body.messages)).toContain('git bisect run')
  })

  it('carries a command out that begins with a stroke, without a model where it needs none', async () => {
    expect(await chat(['-q', '/skills list git-bisect'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('git-bisect'),
    })
    expect(await chat(['-q', '/help'])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('/retry') })
    expect(scene.server.requests).toHaveLength(0)
    scene.server.setHandler(() => ({ text: 'Done.' }))
    expect((await chat(['-q', 'Hi.', ...model()])).stdout).toBe('Done.\n')
    expect(await chat(['-c', '-q', '/title Garden', ...model()])).toMatchObject({ exitCode: 0 })
    expect((await runCli(['sessions', 'list'], scene)).stdout).toContain('Garden')
    expect(scene.server.requests).toHaveLength(1)
    expect(await chat(['-c', '-q', '/retry', ...model()])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(scene.server.requests[1]!.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'Hi.' })
    await chat(['-q', '/skill git-bisect Where is it?', ...model()])
    expect(JSON.stringify(scene.server.requests[2]!.body.messages)).toContain('git bisect run')
  })

  it.each([
    ['/yolo', [], '/yolo works in a conversation only (start one: hermes). Here: --yolo.'],
    ['/hlep', [], 'Unknown command /hlep. Did you mean /help?'],
    ['/git-bsiect Where?', [], 'Unknown command /git-bsiect. Did you mean /git-bisect?'],
    ['/skill', ['-c'], 'It needs NAME'],
    ['/title x', ['-c', '--image', 'x.png'], 'takes no --image'],
  ])('does not take %j for words to the model', async (line, more, expected) => {
    scene.server.setHandler(() => ({ text: 'Done.' }))
    await chat(['-q', 'Hi.', ...model()])
    await writeFile(join(scene.cwd, 'x.png'), DOT)
    const refused = await chat(['-q', line, ...more, ...model()])
    expect(refused).toMatchObject({ exitCode: 2 })
    expect(refused.stdout + refused.stderr).toContain(expected)
    expect(scene.server.requests).toHaveLength(1)
  })

  it('takes no command of the owner from an agent, and none out of a file', async () => {
    const env = { HERMES_AGENT: 'true' }
    const refused = await chat(['-q', '/config approvals.mode off'], { env })
    expect(refused).toMatchObject({ exitCode: 2 })
    expect(refused.stderr).toContain('/config is for the owner of this Hermes')
    expect(await chat(['-q', '/version'], { env })).toMatchObject({ exitCode: 0 })
    await writeFile(join(scene.cwd, 'words.txt'), '/config approvals.mode off')
    scene.server.enqueue({ text: 'I see.' })
    expect(await chat(['--query-file', 'words.txt', ...model()])).toMatchObject({ exitCode: 0, stdout: 'I see.\n' })
    expect((await runCli(['config', 'get', 'approvals.mode'], scene)).stdout).not.toContain('off')
  })

  it.each(['/etc/hosts is wrong', '/ alone'])('takes %j for words to the model', async (line) => {
    scene.server.enqueue({ text: 'I see.' })
    expect(await chat(['-q', line, ...model()])).toMatchObject({ exitCode: 0, stdout: 'I see.\n' })
    expect(scene.server.requests[0]!.body.messages.at(-1)).toMatchObject({ role: 'user', content: line })
  })

  it('works in a worktree of its own with -w, which stays where something is new', async () => {
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@localhost', ...args], {
        cwd: scene.cwd,
        encoding: 'utf8',
      })
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    scene.server.enqueue(
      { text: 'Looked.' },
      { toolCalls: [{ name: 'write_file', args: { path: 'new.txt', content: 'x' } }] },
      { text: 'Made.' },
    )
    const looked = await chat(['-w', '-q', 'Look.', ...model()])
    expect(looked).toMatchObject({ exitCode: 0, stdout: 'Looked.\n' })
    expect(looked.stderr).toContain('The worktree had nothing new and is gone.')
    const made = await chat(['-w', '-q', 'Make it.', ...model()])
    const [, path = ''] = /Your work is in (\S+) on branch hermes\//.exec(made.stderr) ?? []
    expect(await readFile(join(path, 'new.txt'), 'utf8')).toBe('x')
    expect(await readdir(scene.cwd)).not.toContain('new.txt')
    const listed = await runCli(['worktree', 'list', '--json'], scene)
    expect(JSON.parse(listed.stdout)).toMatchObject({ path, changes: 1 })
    expect((await runCli(['worktree', 'prune'], scene)).stdout).toMatch(
      /^\.worktrees\/\w+ +hermes\/\w+ +kept: 1 file that is not/,
    )
  }, 120_000)

  it('prints the stored answer again with -c alone once the session has its answer, and asks nobody', async () => {
    scene.server.enqueue({ text: 'Forty-two.' })
    await chat(['-q', 'What is it?', ...model()])
    expect(await chat(['-c', ...model()])).toMatchObject({ exitCode: 0, stdout: 'Forty-two.\n', stderr: '' })
    expect(scene.server.requests).toHaveLength(1)
  })

  it('takes piped text as context beside a query, and as the query without one', async () => {
    scene.server.setHandler(() => ({ text: 'Looks fine.' }))
    expect((await chat(['-q', 'Review.', ...model()], { input: '+ const x = 1\n' })).stdout).toBe('Looks fine.\n')
    expect(JSON.stringify(scene.server.requests[0]!.body.messages.at(-1))).toContain('+ const x = 1')
    await chat(model(), { input: 'Just this.' })
    expect(scene.server.requests[1]!.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'Just this.' })
  })

  it('takes the first million characters of input that never ends', async () => {
    scene.server.enqueue({ text: 'Enough.' })
    const endless = spawn(
      'sh',
      ['-c', `yes | "${process.execPath}" "${CLI}" chat -q Count. --base-url ${scene.server.baseUrl} -m test`],
      {
        cwd: scene.cwd,
        env: cliEnv(scene),
      },
    )
    let stdout = ''
    endless.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    await once(endless, 'close')
    expect(stdout).toBe('Enough.\n')
    expect(JSON.stringify(scene.server.requests[0]!.body.messages.at(-1)).length).toBeGreaterThan(1_000_000)
  })

  it('prints one event per line with --json and nothing else', async () => {
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo hi' } }] }, { text: 'Done.' })
    const result = await chat(['-q', 'Go.', ...model(), '--json'])
    const types = parseEvents(result.stdout).map((event) => event.type)
    expect(types[0]).toBe('run-start')
    expect(types.at(-1)).toBe('run-end')
    expect(types).toContain('tool-end')
    expect(result.stderr).toBe('')
  })

  it('is not ended by a reader that closes stdout', async () => {
    scene.server.enqueue({ text: 'a\n'.repeat(50_000) })
    const child = startCli(['chat', '-q', 'Talk.', ...model()], scene)
    child.stdout!.once('data', () => child.stdout!.destroy())
    const exitCode = await new Promise((resolve) => child.once('close', resolve))
    expect(exitCode).toBe(0)
    const shown = await runCli(['sessions', 'list'], scene)
    expect(shown.stdout).toContain('Talk.')
  })

  it('stops at the first Ctrl-C, ends the command that ran, and -c goes on', async () => {
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo begun > begun.txt; sleep 600' } }] })
    const child = startCli(['chat', '-q', 'Wait.', ...model(), '--json'], scene)
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.stdout!.resume()
    await waitForFile(join(scene.cwd, 'begun.txt'))
    child.kill('SIGINT')
    expect(await closed).toBe(130)
    scene.server.enqueue({ text: 'Back.' })
    expect(await chat(['-c', '-q', 'Go on.', ...model()])).toMatchObject({ exitCode: 0, stdout: 'Back.\n' })
    expect(JSON.stringify(scene.server.requests[1]!.body.messages)).toMatch(/interrupted|canceled/i)
    expect(scene.server.violations).toEqual([])
  })

  it('keeps interim words off stdout when it is stopped before the answer', async () => {
    scene.server.enqueue({
      text: 'Working.',
      toolCalls: [{ name: 'terminal', args: { command: 'echo > begun.txt; sleep 600' } }],
    })
    const child = startCli(['chat', '-q', 'Wait.', ...model()], scene)
    let stdout = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    const closed = new Promise((resolve) => child.once('close', resolve))
    await waitForFile(join(scene.cwd, 'begun.txt'))
    child.kill('SIGINT')
    expect(await closed).toBe(130)
    expect(stdout).toBe('')
  })

  it('denies a dangerous command where nobody can approve, and tells the model why', async () => {
    await mkdir(join(scene.cwd, 'build'))
    scene.server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] },
      { text: 'Not allowed.' },
    )
    expect((await chat(['-q', 'Clean.', ...model()])).exitCode).toBe(0)
    expect((await stat(join(scene.cwd, 'build'))).isDirectory()).toBe(true)
    expect(JSON.stringify(scene.server.requests[1]!.body.messages.at(-1))).toMatch(/Not permitted .*--yolo/)
    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }, { text: 'Gone.' })
    await chat(['-q', 'Clean.', ...model(), '--yolo'])
    await expect(stat(join(scene.cwd, 'build'))).rejects.toThrow()
  })

  it('never shows a key: not to commands, not in the database, the log or the requests', async () => {
    const key = 'sk-test-1234567890abcdef'
    scene.server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'env; cat leaked.txt' } }] },
      { text: 'ok' },
    )
    await writeFile(join(scene.cwd, 'leaked.txt'), `key is ${key}\n`)
    await chat(['-q', 'Look.', ...model()], { env: { OPENAI_API_KEY: key } })
    const last = JSON.stringify(scene.server.requests[1]!.body)
    expect(last).toContain('[REDACTED]')
    expect(last).not.toContain(key)
    for (const name of ['state.db', 'state.db-wal']) {
      const bytes = await readFile(join(scene.home, name)).catch(() => Buffer.alloc(0))
      expect(bytes.includes(key), name).toBe(false)
    }
    expect((await stat(join(scene.home, 'state.db'))).mode & 0o077).toBe(0)
  })
})

async function waitForFile(path: string): Promise<void> {
  for (;;) {
    try {
      await stat(path)
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
