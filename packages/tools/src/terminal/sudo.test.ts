import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { ExecResult } from '@hermes/contracts/environment'
import type { Answer } from '@hermes/contracts/tool'
import { scriptPty } from '@hermes/sandbox/testing'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createTerminalTool, defaultToolSettings } from '../index.js'
import { sudoOutcome } from './sudo.js'

/** Asks as sudo does without a terminal: never with -n, through the helper with -A, three times; then it runs the rest. */
const SUDO = `#!/bin/sh
[ "$1" = -n ] && { echo 'sudo: a password is required' >&2; exit 1; }
[ "$1" = -A ] || { echo 'sudo: a terminal is required to read the password; either use the -S option' >&2; exit 1; }
shift
for try in 1 2 3; do
  [ "$("$SUDO_ASKPASS")" = "it's s3cret" ] && exec "$@"
  echo 'Sorry, try again.' >&2
done
echo 'sudo: 3 incorrect password attempts' >&2
exit 1
`

interface Scene {
  readonly password?: string | null
  readonly answer?: Answer
  readonly pty?: true
}

async function setUp({ password = null, answer, pty }: Scene) {
  const { folder } = await temporaryEnvironment()
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/sudo'), SUDO)
  await chmod(join(folder, 'bin/sudo'), 0o755)
  const outputDir = join(folder, 'output')
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` }
  const loadPty = async () => scriptPty
  const { environment } = await temporaryEnvironment({ env, outputDir, ...(pty ? { loadPty } : {}) })
  const context = createToolContext({ environment, ...(answer ? { answer } : {}) })
  const concealed: string[] = []
  const sudo = { password, conceal: (secret: string) => void concealed.push(secret) }
  const tool = createTerminalTool({ ...defaultToolSettings, sudo })
  const run = (command: string, more: JsonObject = {}) => call(tool, { command, ...more }, context)
  const kept = async () => (await readdir(outputDir, { recursive: true })).filter((name) => name.includes('askpass'))
  return { context, run, concealed, kept }
}

const text = (text: string): Answer => ({ type: 'answered', text })

describe('sudo', () => {
  it('gets the configured password, wherever it stands in the command, and nobody is asked', async () => {
    const { run, context, kept } = await setUp({ password: "it's s3cret" })
    expect((await run('echo one | sudo cat && sudo echo two')).text).toBe('one\ntwo')
    expect((await run('cd / && (sudo pwd)')).text).toContain('/')
    expect(context.questions).toEqual([])
    expect(await kept()).toEqual([])
  })

  it('gets it neither as an argument nor as a variable, and none of it stays', async () => {
    const { run } = await setUp({ password: "it's s3cret" })
    const { text } = await run('sudo true; tr "\\0" "\\n" < /proc/$$/environ; tr "\\0" "\\n" < /proc/$$/cmdline')
    expect(text).toContain('SUDO_ASKPASS=')
    expect(text).not.toContain('s3cret')
    expect((await run('echo "[$SUDO_ASKPASS]"; type sudo')).text).toMatch(/^\[\]\nsudo is \//)
  })

  it('has a person asked once, unseen, and what was said is taken out of what is shown', async () => {
    const { run, context, concealed } = await setUp({ answer: text("it's s3cret") })
    expect((await run('sudo echo one')).text).toBe('one')
    expect((await run('sudo echo two')).text).toBe('two')
    expect(context.questions).toEqual([
      { question: 'Password for sudo, to run: sudo echo one', choices: [], allowFreeText: true, isSecret: true },
    ])
    expect(concealed).toEqual(["it's s3cret"])
  })

  it('forgets a password that was wrong and asks again the next time', async () => {
    const { run, context } = await setUp({ answer: text('wrong') })
    const result = await run('sudo echo one')
    expect(result.data).toMatchObject({ exit_code: 1, sudo_auth_failed: true, sudo_cache_cleared: true })
    expect(result.text).toContain('[sudo did not take the password; the user is asked again when sudo is used next]')
    await run('sudo echo two')
    expect(context.questions).toHaveLength(2)
  })

  it('says that the configured password is wrong', async () => {
    const { run } = await setUp({ password: 'wrong' })
    const { text, data } = await run('sudo echo one')
    expect(text).toContain('[sudo did not take SUDO_PASSWORD; the user has to correct it]')
    expect(data).toMatchObject({ sudo_auth_failed: true })
  })

  it('runs without a password where nobody gives one, says what would help, and asks no more', async () => {
    const { run, context } = await setUp({})
    const { text } = await run('sudo echo one')
    expect(text).toContain('the user can set SUDO_PASSWORD in the .env of Hermes')
    await run('sudo echo two')
    expect(context.questions).toHaveLength(1)
  })

  it('gets the password in the background too, for as long as the process runs', async () => {
    const { run, context, kept } = await setUp({ password: "it's s3cret" })
    const { text } = await run('read line; sudo echo "$line"; tr "\\0" "\\n" < /proc/$$/cmdline', { background: true })
    expect(text).toContain('Started in the background')
    const [process] = context.environment.processes()
    expect(process!.info().command).toMatch(/^read line; sudo echo/)
    expect(await kept()).toHaveLength(1)
    const ended = new Promise((resolve) => process!.observe({ onExit: resolve }))
    process!.write('late\n')
    await ended
    expect(process!.output()).toMatch(/^late\n/)
    expect(process!.output()).not.toContain('s3cret')
    expect(await kept()).toEqual([])
  })

  it('has a person asked again when a background process was given a password that is wrong', async () => {
    const { run, context } = await setUp({ answer: text('wrong') })
    await run('sudo echo one', { background: true })
    const [process] = context.environment.processes()
    await new Promise((resolve) => process!.observe({ onExit: resolve }))
    await run('sudo echo two')
    expect(context.questions).toHaveLength(2)
  })

  it('gets the password on a pseudo-terminal', async () => {
    const { run, kept, context } = await setUp({ password: "it's s3cret", pty: true })
    expect((await run('test -t 1 && sudo echo there', { pty: true })).text).toBe('there')
    const [process] = context.environment.processes()
    await new Promise((resolve) => process!.observe({ onExit: resolve }))
    expect(await kept()).toEqual([])
    const wrong = await setUp({ password: 'wrong', pty: true })
    expect((await wrong.run('sudo true', { pty: true })).text).toContain('sudo did not take SUDO_PASSWORD')
  })

  it('says so where no password can be given', async () => {
    const { context } = await setUp({})
    const environment = new Proxy(context.environment, {
      get: (target, name) =>
        name === 'sudo' ? undefined : name === 'backend' ? 'docker' : Reflect.get(target, name, target),
    })
    const result = { output: 'sudo: a password is required', exitCode: 1 } as ExecResult
    expect(sudoOutcome('sudo true', result, null, { ...context, environment }).notes).toEqual([
      '[sudo can be given no password in the docker environment; do it without sudo, or ask the user]',
    ])
  })

  it('asks nobody for commands that only speak of it', async () => {
    const { run, context } = await setUp({ answer: text('x') })
    await run('echo pseudo sudoku; echo sudo')
    expect(context.questions).toEqual([])
  })

  it('keeps the password from a program that commands have put in its place', async () => {
    const { run } = await setUp({ password: "it's s3cret" })
    await run(
      'mkdir fake && printf "#!/bin/sh\\necho caught: \\$(\\"\\$SUDO_ASKPASS\\")\\n" > fake/sudo && chmod +x fake/sudo',
    )
    await run('export PATH="$PWD/fake:$PATH"')
    expect((await run('sudo echo fine')).text).toBe('fine')
  })
})
