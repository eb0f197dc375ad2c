import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { ExecOptions } from '@hermes/contracts/environment'
import { expect, it, onTestFinished } from 'vitest'
import { ScriptProcess } from '../execute-code/script-process.js'
import { OrphanGuard } from '../local/orphan-guard.js'
import { ProcessTable } from '../processes/process-table.js'
import { Shell } from '../shell/shell.js'
import { shellProgram } from '../shell/shell-script.js'
import { scriptPty } from '../testing/script-pty.js'
import { type IsolatedProgram, notIsolated, type Started, type WorkingFolders } from './isolated-program.js'
import { StartMark } from './start-mark.js'

/** Holds programs, and fails as bubblewrap does the first `failures` times. */
function failing(failures: number) {
  let starts = 0
  const isolate = async (
    requested: Started,
    { scratch }: Pick<WorkingFolders, 'scratch'>,
  ): Promise<IsolatedProgram> => {
    const text = `echo "bwrap: Can't create file at /home/ada/.x.lock: Read-only file system" >&2; exit 1`
    const run = ++starts > failures ? requested : { program: '/bin/sh', args: ['-c', text], env: {} }
    return { ...notIsolated(run), isConfined: true, mark: new StartMark(scratch) }
  }
  return { isolate, starts: () => starts }
}

async function folder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hermes-mount-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A shell whose commands are not mounted the first `failures` times. */
async function setup(failures: number, login: { readonly home: string } | null = null) {
  const cwd = await folder()
  const { isolate, starts } = failing(failures)
  const shell = new Shell({
    ...{ program: shellProgram('/bin/bash'), cwd, env: { PATH: '/usr/bin:/bin' }, outputDir: join(cwd, 'out') },
    ...{ clock: systemClock, logger: silentLogger, login, isIsolated: () => true, isolate },
    take: () => {
      throw new Error('no command goes on')
    },
  })
  onTestFinished(() => shell.close(false))
  const heard: string[] = []
  const run = (command: string, options: ExecOptions = {}) =>
    shell.exec(command, { ...options, onOutput: (text) => heard.push(text) }, () => undefined)
  return { cwd, run, heard, starts }
}

it('starts a command once more when a place to hide was gone before bubblewrap could mount it', async () => {
  const { run, heard, starts } = await setup(1)
  const result = await run('cat; cd /; exit 1', { stdin: 'the input' })
  expect(result).toMatchObject({ output: 'the input', exitCode: 1, cwd: '/' })
  expect([heard.join(''), starts()]).toEqual(['the input', 2])
})

it('says so when that happens again', async () => {
  const { run, heard, starts } = await setup(9)
  const { output } = await run('true')
  expect([heard.join(''), starts()]).toEqual([output, 2])
  expect(output).toMatch(/^bwrap: Can't create file at .*\n$/)
})

it('starts no command again that ran, whatever it writes', async () => {
  const { cwd, run, starts } = await setup(0)
  const text = "bwrap: Can't mkdir /x: Read-only file system"
  expect((await run(`echo run >> ran; echo "${text}"; exit 1`)).output).toBe(`${text}\n`)
  expect((await run(`printf bwrap; echo run >> ran; exit 1`)).output).toBe('bwrap')
  expect([await readFile(join(cwd, 'ran'), 'utf8'), starts()]).toEqual(['run\nrun\n', 2])
})

it.each([false, true])('starts a background process once more, on a terminal: %s', async (pty) => {
  const cwd = await folder()
  const { isolate, starts } = failing(1)
  const table = new ProcessTable({
    ...{ program: shellProgram('/bin/bash'), outputDir: cwd, clock: systemClock, logger: silentLogger },
    loadPty: async () => scriptPty,
  })
  onTestFinished(() => table.close(false))
  const start = (requested: Started) => isolate(requested, { scratch: cwd })
  const running = await table.spawn(
    'read -r x; echo "got $x"; exit 3',
    cwd,
    { PATH: '/usr/bin:/bin' },
    { isolate: start, pty },
  )
  expect(running.info().status).toBe('running')
  running.write('it\n')
  const ended = await running.wait()
  expect([ended?.exitCode, starts()]).toEqual([3, 2])
  const output = running.output()
  expect(output).toContain('got it')
  expect(output).not.toContain('bwrap')
})

it('leaves a background process as ended whose places are gone twice', async () => {
  const cwd = await folder()
  const { isolate, starts } = failing(9)
  const table = new ProcessTable({
    ...{ program: shellProgram('/bin/bash'), outputDir: cwd, clock: systemClock, logger: silentLogger },
  })
  onTestFinished(() => table.close(false))
  const start = (requested: Started) => isolate(requested, { scratch: cwd })
  const running = await table.spawn('true', cwd, { PATH: '/usr/bin:/bin' }, { isolate: start })
  expect([(await running.wait())?.exitCode, starts()]).toEqual([1, 2])
  expect(running.output()).toMatch(/^bwrap: Can't create file/)
})

it('starts a program of code once more', async () => {
  const cwd = await folder()
  const { isolate, starts } = failing(1)
  const guard = new OrphanGuard()
  onTestFinished(() => guard.close())
  const launch = { argv: ['/bin/echo', 'said'], cwd, env: { PATH: '/usr/bin:/bin' }, maxMemoryBytes: 0 }
  const started = await ScriptProcess.start({ ...launch, folder: cwd, guard, isolate, clock: systemClock })
  const heard: string[] = []
  started.stdout.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
  started.stderr.on('data', (chunk: Buffer) => heard.push(chunk.toString()))
  await started.exit
  await started.settle()
  expect([heard.join(''), starts()]).toEqual(['said\n', 2])
})

it('reads the start-up files of a login once more', async () => {
  const home = await folder()
  await writeFile(join(home, '.bash_profile'), 'export PATH="/opt/mine:$PATH"\n')
  const { run } = await setup(1, { home })
  expect((await run('echo "$PATH"')).output).toMatch(/^\/opt\/mine:/)
})
