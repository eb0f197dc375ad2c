import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { harness } from '../testing/harness.js'
import { testEnvironment } from '../testing/index.js'
import { sampleFor } from '../testing/sample.js'
import { scriptPty } from '../testing/script-pty.js'
import { createLocalEnvironment, type LocalEnvironmentOptions } from './local-environment.js'

const PATH = '/usr/local/bin:/usr/bin:/bin'

async function create(options: Partial<LocalEnvironmentOptions> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sandbox-')))
  const [cwd, home, outputDir] = [join(root, 'work'), join(root, 'home'), join(root, 'output')]
  for (const directory of [cwd, home]) await mkdir(directory)
  const environment = createLocalEnvironment({ cwd, home, outputDir, env: { PATH, HOME: home }, ...options })
  return {
    environment,
    outputDir,
    async dispose() {
      await environment.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

testEnvironment({ name: 'local (/bin/bash)', create: () => create({ shell: '/bin/bash' }) })
testEnvironment({
  name: 'local (/bin/sh)',
  create: () => create({ shell: '/bin/sh' }),
  only: sampleFor('sh', 6),
})

testEnvironment({
  name: 'local with a pseudo-terminal',
  create: () => create({ loadPty: async () => scriptPty }),
  only: (title) => /pseudo-terminal/.test(title) || sampleFor('pty', 12)(title),
})

describe('local environment', () => {
  it('says that there is no pseudo-terminal when node-pty cannot be loaded, and starts nothing', async () => {
    const { environment, start } = await harness(() =>
      create({ loadPty: () => Promise.reject(new Error('not built')) }),
    )
    await expect(start('true', { pty: true })).rejects.toMatchObject({ code: 'environment.no_pty' })
    expect(environment.processes()).toEqual([])
  })

  it('gives children the variables it was given and no others', async () => {
    const { run } = await harness(() => create({ env: { PATH, ONLY: 'this' } }))
    const { output } = await run('env')
    const names = output
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(names.sort()).toEqual(['ONLY', 'PATH', 'PWD', 'SHLVL', '_'])
  })

  it('takes over no command that could not be started', async () => {
    const { run, environment } = await harness(() => create({ shell: '/no/such/bash' }))
    const yieldSignal = AbortSignal.abort()
    await expect(run('true', { yieldSignal })).rejects.toMatchObject({ code: 'environment.spawn_failed' })
    expect(environment.processes()).toEqual([])
  })

  it('finds programs when it was given no PATH', async () => {
    const { run } = await harness(() => create({ env: {} }))
    expect((await run('env | grep ^PATH')).exitCode).toBe(0)
  })

  it('keeps state when the command sets its own exit trap or writes to odd file descriptors', async () => {
    const { run, environment } = await harness(create)
    const start = environment.cwd()
    await run(`mkdir in; trap 'echo bye' EXIT; exec 3>three 9>nine; set -u -o noclobber; cd in`)
    expect(environment.cwd()).toBe(`${start}/in`)
  })

  it('keeps values of any characters', async () => {
    const { run } = await harness(create)
    const value = `${Array.from({ length: 255 }, (_, code) => String.fromCharCode(code + 1)).join('')}€🙂`
    await run('export ODD="$(cat)."', { stdin: value })
    expect((await run('printf %s "$ODD"')).output).toBe(`${value}.`)
  })

  it('leaves the shell level alone', async () => {
    const { run } = await harness(create)
    await run('export A=1')
    await run('export B=2')
    expect((await run('echo $SHLVL')).output).toBe((await (await harness(create)).run('echo $SHLVL')).output)
  })

  it('ends descendants that left the process group', async () => {
    const { run, gone } = await harness(create)
    const command = `setsid sh -c 'echo $$; while :; do sleep 0.1; done' & wait`
    const result = await run(command, { timeoutMs: 500 })
    expect(result).toMatchObject({ exitCode: 124, timedOut: true })
    expect(await gone(result.output.trim())).toBe(true)
  })

  it('ends what commands left in the background when it closes', async () => {
    const other = await harness(create)
    const { run, environment } = await harness(create)
    const { output } = await run('sleep 60 & echo $!')
    await environment.close()
    expect(await other.gone(output.trim())).toBe(true)
  })

  it('ends running commands when it closes', async () => {
    const { run, environment } = await harness(create)
    const running = run('sleep 60', { onOutput: () => undefined })
    await environment.close()
    expect(await running).toMatchObject({ canceled: true, exitCode: 130 })
  })

  it('lets processes left in the background go on writing', async () => {
    const { run } = await harness(create)
    await run('(while [ ! -e go ]; do sleep 0.02; done; head -c 300000 /dev/zero && touch wrote) &')
    const { exitCode } = await run('touch go; while [ ! -e wrote ]; do sleep 0.02; done', { timeoutMs: 5_000 })
    expect(exitCode).toBe(0)
  })

  it('does not mix the output of a process left behind into later commands', async () => {
    const { run } = await harness(create)
    const { output } = await run('(while :; do echo noise; sleep 0.01; done) & echo $!')
    for (let round = 0; round < 3; round++) expect((await run('sleep 0.05; echo clean')).output).toBe('clean\n')
    await run(`kill ${output.split('\n')[0]}`)
  })

  it('runs commands side by side', async () => {
    const { run } = await harness(create)
    const commands = Array.from({ length: 8 }, (_, index) => run(`sleep 0.0${index}; echo ${index}`))
    const outputs = (await Promise.all(commands)).map((result) => result.output)
    expect(outputs).toEqual(Array.from({ length: 8 }, (_, index) => `${index}\n`))
  })

  it('saves 50 MiB of a larger output, for the user alone', async () => {
    const { run } = await harness(create)
    const result = await run('head -c 60000000 /dev/zero')
    expect(result).toMatchObject({ outputBytes: 60_000_000, savedBytes: 50 * 1024 * 1024 })
    const file = await stat(result.fullOutputPath!)
    expect(file.size).toBeGreaterThanOrEqual(50 * 1024 * 1024)
    expect(file.size).toBeLessThan(50 * 1024 * 1024 + 200)
    expect(file.mode & 0o777).toBe(0o600)
  })

  it('says that the shell cannot be started', async () => {
    const { run } = await harness(() => create({ shell: '/no/such/bash' }))
    await expect(run('true')).rejects.toMatchObject({ code: 'environment.spawn_failed' })
  })

  it('runs commands that begin with a dash or end in a comment', async () => {
    const { run } = await harness(create)
    expect((await run('-nope')).exitCode).toBe(127)
    expect((await run('echo a # b')).output).toBe('a\n')
    expect((await run('')).exitCode).toBe(0)
  })

  it('goes on when a listener for output throws', async () => {
    const { run } = await harness(create)
    const onOutput = () => {
      throw new Error('listener')
    }
    expect((await run('echo a', { onOutput })).output).toBe('a\n')
  })

  it('keeps an open link loop and a file used as a directory apart from what is missing', async () => {
    const { run, environment, write } = await harness(create)
    await run('ln -s b a; ln -s a b; echo x > file')
    await expect(environment.realpath('a')).rejects.toMatchObject({ code: 'environment.link_loop' })
    await expect(environment.read('file/x')).rejects.toMatchObject({ code: 'environment.not_a_directory' })
    await expect(write('.', 'x')).rejects.toMatchObject({ code: 'environment.is_directory' })
    await expect(write('/dev/null', 'x')).rejects.toMatchObject({ code: 'environment.not_a_file' })
    await expect(environment.read('a\0b')).rejects.toMatchObject({ code: 'environment.invalid_path' })
  })

  it('reads files of the kernel that have no size', async () => {
    const { environment } = await harness(create)
    const bytes = await environment.read('/proc/version', { length: 5 })
    expect(new TextDecoder().decode(bytes!)).toBe('Linux')
  })

  it('tells where it runs', async () => {
    const { environment } = await harness(() => create({ user: 'ada', shell: '/bin/bash' }))
    const probe = await environment.probe()
    expect(probe).toMatchObject({ backend: 'local', user: 'ada', cwd: environment.cwd(), shell: '/bin/bash' })
    expect(probe.os).toMatch(/^\w+ \d+\.\d+/)
    expect(environment.capabilities).toEqual({ background: true, pty: false, isolated: false, withheld: [] })
  })

  it('removes saved outputs after a week', async () => {
    const made = await create()
    const { run } = await harness(async () => made)
    const day = 24 * 60 * 60 * 1000
    const old = `output-${Date.now() - 8 * day}-0123abcd.txt`
    const recent = `output-${Date.now() - 6 * day}-0123abcd.txt`
    await mkdir(made.outputDir, { recursive: true })
    for (const name of [old, recent]) await writeFile(join(made.outputDir, name), 'long')
    await run('true')
    const left = await readdir(made.outputDir)
    expect([left.includes(old), left.includes(recent)]).toEqual([false, true])
  })

  it('leaves only long outputs and unused pipes behind when it closes', async () => {
    const made = await create()
    const { run, environment } = await harness(async () => made)
    await run('echo a; cd ..')
    await environment.close()
    // Pipes that no command had yet are for the next program.
    expect(await readdir(made.outputDir)).toEqual(['pipes'])
  })

  it('wants absolute directories', () => {
    expect(() => createLocalEnvironment({ cwd: 'work', home: '/', outputDir: '/tmp', env: {} })).toThrow(/absolute cwd/)
  })

  it('sees a change that kept size and modification time', async () => {
    const { environment, run } = await harness(create)
    await writeFile(environment.resolve('a'), 'one')
    const before = await environment.stat('a')
    await run('touch -r a stamp; printf two > a; touch -r stamp a')
    expect((await environment.stat('a'))?.version).not.toBe(before?.version)
  })
})
