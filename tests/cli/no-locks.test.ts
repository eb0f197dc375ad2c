// A home on a file system that has no file locks, as on some network and user file systems.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { runCli, startCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const FAULTS = resolve(import.meta.dirname, '../../packages/storage/src/__fixtures__/faults.c')
const ENOLCK = '37'

function withoutLocks() {
  const library = join(scene.folder, 'faults.so')
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, FAULTS, '-ldl', '-lpthread'])
  return { home: scene.home, cwd: scene.cwd, env: { LD_PRELOAD: library, FAULT_LOCKS: ENOLCK } }
}

const missing = process.platform === 'linux' ? missingPrograms('cc') : 'LD_PRELOAD as Linux has it'

needs(missing)('a home without file locks', () => {
  it('holds sessions of one Hermes at a time, and says so', async () => {
    const world = withoutLocks()
    const chat = ['chat', '--base-url', scene.server.baseUrl, '-m', 'm']
    const notice = `hermes: The file system of ${scene.home} has no locks: one Hermes at a time can use the sessions there, and each message waits for the disk.\n`
    scene.server.enqueue({ text: 'On the stove.' })
    expect(await runCli([...chat, '-q', 'Where is the kettle?'], world)).toMatchObject({
      exitCode: 0,
      stdout: 'On the stove.\n',
      stderr: notice,
    })

    scene.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'echo begun; sleep 600' } }] })
    const first = startCli([...chat, '-c', '-q', 'Wait.', '--json'], world)
    const ended = once(first, 'close')
    let stdout = ''
    for await (const text of first.stdout!.setEncoding('utf8')) {
      stdout += text
      if (stdout.includes('"tool-start"')) break
    }
    const second = await runCli([...chat, '-q', 'Me too.'], world)
    expect(second).toMatchObject({ exitCode: 1, stdout: '' })
    expect(second.stderr).toMatch(
      /^hermes: .*state\.db is open in process \d+@.* has no locks, so one Hermes at a time.*\n$/,
    )
    first.kill('SIGKILL')
    await ended

    scene.server.enqueue({ text: 'Back.' })
    expect(await runCli([...chat, '-c', '-q', 'Go on.'], world)).toMatchObject({ exitCode: 0, stdout: 'Back.\n' })
    expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toContain('Where is the kettle?')
    expect((await runCli(['backup', 'create'], world)).exitCode).toBe(0)
  })

  it('keeps keys and memory there, also when several commands write at once', async () => {
    const world = withoutLocks()
    const entries = ['one', 'two', 'three', 'four']
    const added = await Promise.all(entries.map((entry) => runCli(['memory', 'add', `Entry ${entry}.`], world)))
    expect(added.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(entries.map(() => [0, '']))
    const { stdout } = await runCli(['memory', 'list'], world)
    for (const entry of entries) expect(stdout).toContain(`Entry ${entry}.`)
    const key = await runCli(['auth', 'add', 'openai', '--key-stdin'], { ...world, input: 'sk-not-a-real-key\n' })
    expect(key).toMatchObject({ exitCode: 0 })
  })
})
