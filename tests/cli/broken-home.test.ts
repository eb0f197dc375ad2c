// Homes that cannot be used, or not by two at once: one clear line each, never a stack trace.
import { type ChildProcess, execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { openStorage } from '@hermes/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { CLI, cliEnv, parseEvents, runCli, startCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
beforeEach(() => mkdir(scene.home, { recursive: true }))

const chat = (...args: readonly string[]) => ['chat', ...args, '--base-url', scene.server.baseUrl, '-m', 'm']
const hermes = (args: readonly string[], at = scene.home) => runCli(args, { home: at, cwd: scene.cwd })
const oneLine = /^hermes: [^\n]+\n$/

describe('a home that cannot be used', () => {
  it('says that the database is damaged and leaves it as it is', async () => {
    const garbage = 'This is no database. '.repeat(500)
    await writeFile(join(scene.home, 'state.db'), garbage)
    for (const args of [chat('-q', 'x'), chat('-c', '-q', 'x'), ['sessions', 'list']]) {
      const result = await hermes(args)
      expect(result).toMatchObject({ exitCode: 1, stdout: '' })
      expect(result.stderr).toMatch(oneLine)
      expect(result.stderr).toMatch(
        /state\.db is damaged or not a SQLite database; restore a backup, or save what can be read: hermes backup/,
      )
    }
    expect((await hermes(['doctor'])).stdout).toMatch(/^fail {2}Sessions: .*state\.db is damaged/m)
    expect(await readFile(join(scene.home, 'state.db'), 'utf8')).toBe(garbage)
    expect(scene.server.requests).toHaveLength(0)
  })

  it('says that a newer Hermes has written it and leaves it as it is', async () => {
    expect(await hermes(['sessions', 'list'])).toMatchObject({ exitCode: 0 })
    const path = join(scene.home, 'state.db')
    await (await openStorage({ path })).close()
    const database = new DatabaseSync(path)
    database.exec("UPDATE state_meta SET value = '99' WHERE key = 'hermes_schema'; PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    const before = await readFile(path)
    for (const args of [chat('-q', 'x'), ['sessions', 'list']]) {
      const result = await hermes(args)
      expect(result).toMatchObject({ exitCode: 1, stdout: '' })
      expect(result.stderr).toMatch(oneLine)
      expect(result.stderr).toContain('schema version 99, this program knows up to 2; update Hermes to open it.')
    }
    expect(await readFile(path)).toEqual(before)
    expect(scene.server.requests).toHaveLength(0)
  })

  it('is not held up by files that never end', async () => {
    const names = ['config.yaml', 'permissions.yaml', '.env', 'auth.json', 'SOUL.md', 'cache/models-dev.json']
    await mkdir(join(scene.home, 'cache'))
    for (const name of names) await symlink('/dev/zero', join(scene.home, name))
    scene.server.enqueue({ text: 'Here.' })
    const result = await hermes(chat('-q', 'x'))
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Here.\n' })
    for (const name of names.slice(0, 5))
      expect(result.stderr.replace(/(?<=\S)\n(?!hermes:|\/)/g, ' ')).toMatch(
        new RegExp(`${name.replace('.', '\\.')}.*(?:not a file|a device, pipe or socket)`),
      )
  })

  it('says what is in the way where the home should be', async () => {
    await writeFile(join(scene.folder, 'file'), '')
    const result = await hermes(chat('-q', 'x'), join(scene.folder, 'file', '.hermes'))
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(oneLine)
    expect(result.stderr).toMatch(/Cannot make the Hermes home .*Set HERMES_HOME/)
  })

  it('does not keep --help from listing what there is, and makes no home', async () => {
    await rm(scene.home, { recursive: true })
    const sound = await hermes(['--help'])
    expect(sound).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('doctor') })
    expect(existsSync(scene.home)).toBe(false)
    await writeFile(join(scene.folder, 'file'), '')
    expect(await hermes(['--help'], join(scene.folder, 'file', '.hermes'))).toEqual(sound)
    await mkdir(scene.home)
    await writeFile(join(scene.home, 'config.yaml'), 'extensions: [gone.js]\nmodel: [')
    expect(await hermes(['help'])).toMatchObject({ exitCode: 0, stdout: sound.stdout })
    const relative = await runCli(['--help'], { home: 'relative', cwd: scene.cwd })
    expect(relative).toMatchObject({ exitCode: 0, stdout: sound.stdout })
    expect(relative.stderr).toMatch(
      /^hermes: commands of extensions are not listed: HERMES_HOME is "relative"[^\n]+\n$/,
    )
  })

  it('does not hang on a file system that takes no folders', async () => {
    const result = await hermes(chat('-q', 'x'), '/proc/nowhere/.hermes')
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(oneLine)
  })
})

/** Runs shell lines with a small file system of their own mounted over the home; `hermes` is the CLI, `$URL` the model server. */
const mounted = async (options: string, lines: string) => {
  const script = `mount -t tmpfs -o ${options} tmpfs "$HERMES_HOME" || exit 99\nhermes() { "$NODE" "$CLI" "$@" </dev/null; echo "exit code $?"; }\n${lines}`
  const env = { ...cliEnv(scene), NODE: process.execPath, CLI, URL: scene.server.baseUrl }
  return promisify(execFile)('unshare', ['-rm', '/bin/sh', '-c', script], { cwd: scene.cwd, env }).catch(
    (error) => error as never,
  )
}
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

needs('user namespaces', canMount)('a home on a bad disk', () => {
  it('says that the disk is full, keeps what was there, and goes on once there is room', async () => {
    scene.server.setHandler(({ body }) => ({ text: `Answer to ${body.messages.length} messages.` }))
    const { stdout, stderr } = await mounted(
      'size=1m',
      `hermes chat -q One --base-url "$URL" -m m
       cat /dev/zero > "$HERMES_HOME/big" 2>/dev/null
       hermes chat -c -q "${'Two '.repeat(20_000)}" --base-url "$URL" -m m
       rm "$HERMES_HOME/big"
       hermes chat -c -q Three --base-url "$URL" -m m`,
    )
    expect(stdout).toBe('Answer to 2 messages.\nexit code 0\nexit code 1\nAnswer to 4 messages.\nexit code 0\n')
    expect(stderr).toMatch(/^hermes: No space left to write \S+state\.db; free some and try again\.\n/)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('keeps what was said in a turn that filled the disk, and takes it back in', async () => {
    scene.server.setHandler(({ body }) =>
      body.messages.at(-1)?.role === 'user'
        ? {
            text: 'Giraffe.',
            toolCalls: [
              { name: 'terminal', args: { command: 'cat /dev/zero > "$HERMES_HOME/big"; true', outside: true } },
            ],
          }
        : { text: 'Done.' },
    )
    const { stdout, stderr } = await mounted(
      'size=1m',
      `export TMPDIR="$PWD"
       hermes chat -q Fill --base-url "$URL" -m m --yolo
       rm "$HERMES_HOME/big"
       hermes sessions rescue --all
       hermes sessions show "$(hermes sessions list --json | sed -n 's/.*"id":"\\([^"]*\\)".*/\\1/p')"`,
    )
    expect(stderr).toMatch(
      /No space left to write \S+state\.db; free some and try again\. What was said is kept in \S+\.jsonl; hermes sessions rescue brings it back\.\n/,
    )
    expect(stdout).toMatch(/^\S+ {2}\d messages? brought back\n/m)
    expect(stdout).toContain('→ terminal')
    expect(stdout).toContain('tool terminal')
  })

  it('says that a read-only home cannot be written', async () => {
    const { stdout, stderr } = await mounted('ro', 'hermes chat -q One --base-url "$URL" -m m')
    expect(stdout).toBe('exit code 1\n')
    expect(stderr).toMatch(oneLine)
    expect(stderr).toMatch(/cannot be opened for writing .*check its permissions/)
  })
})

/** Starts a run whose command goes on until it is ended, and waits for it. */
async function startHanging(): Promise<{ child: ChildProcess; sessionId: string; ended: Promise<unknown[]> }> {
  scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo begun; sleep 600' } }] })
  const child = startCli([...chat('-q', 'Wait.'), '--json'], scene)
  const ended = once(child, 'close')
  let stdout = ''
  for await (const text of child.stdout!.setEncoding('utf8')) {
    stdout += text
    if (stdout.includes('"tool-progress"')) break
  }
  return { child, sessionId: parseEvents(stdout)[0]!.sessionId, ended }
}

describe('a run in progress', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends cleanly on %s, its command too, and -c goes on', async (signal, exitCode) => {
    const { child, ended } = await startHanging()
    child.kill(signal)
    expect(await ended).toEqual([exitCode, null])
    scene.server.enqueue({ text: 'Back.' })
    expect(await hermes(chat('-c', '-q', 'Go on.'))).toMatchObject({ exitCode: 0, stdout: 'Back.\n', stderr: '' })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).toMatch(/interrupted/)
  })

  it('keeps its session to itself: a second process is told who holds it', async () => {
    const { child, sessionId, ended } = await startHanging()
    const second = await hermes(chat('-c', '-q', 'Me too.'))
    expect(second).toMatchObject({ exitCode: 1, stdout: '' })
    expect(second.stderr).toContain(`hermes: this session is also open in oneshot (process ${child.pid}@`)
    expect(second.stderr).toContain(`hermes: Session ${sessionId} is in use by oneshot (process ${child.pid}@`)
    expect(second.stderr).not.toContain('The session is kept')
    scene.server.enqueue({ text: 'A session of its own.' })
    expect(await hermes(chat('-q', 'Then a new one.'))).toMatchObject({
      exitCode: 0,
      stdout: 'A session of its own.\n',
    })
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
  })
})

describe('--record and --replay', () => {
  it('give the same run again without a model, and stop at the first real difference', async () => {
    const file = join(scene.folder, 'traffic.jsonl')
    scene.server.enqueue({ toolCalls: [{ name: 'read_file', args: { path: 'note.txt' } }] }, { text: 'It says hello.' })
    await writeFile(join(scene.cwd, 'note.txt'), 'hello\n')
    expect(await hermes(chat('-q', 'Read.', '--record', file))).toMatchObject({ stdout: 'It says hello.\n' })
    const other = join(scene.folder, 'other', '.hermes')
    expect(await hermes(['chat', '-q', 'Read.', '--replay', file], other)).toMatchObject({
      exitCode: 0,
      stdout: 'It says hello.\n',
    })
    const changed = await hermes(['chat', '-q', 'Read it.', '--replay', file], other)
    expect(changed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(changed.stderr).toMatch(/^hermes: [^\n]*Read\.[^\n]*Read it\.[^\n]*\n/)
    expect(scene.server.requests).toHaveLength(2)
  })
})
