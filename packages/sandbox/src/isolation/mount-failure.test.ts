import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { ExecOptions } from '@hermes/contracts/environment'
import { expect, it, onTestFinished } from 'vitest'
import { Shell } from '../shell.js'
import { shellProgram } from '../shell-script.js'
import { notIsolated } from './isolated-program.js'

/** A shell whose commands are not mounted the first `failures` times. */
async function setup(failures: number) {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'hermes-mount-')))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  let starts = 0
  const shell = new Shell({
    ...{ program: shellProgram('/bin/bash'), cwd, env: { PATH: '/usr/bin:/bin' }, outputDir: join(cwd, 'out') },
    ...{ clock: systemClock, logger: silentLogger, login: null, isIsolated: () => true },
    take: () => {
      throw new Error('no command goes on')
    },
    isolate: async (requested) => {
      const text = `echo "bwrap: Can't create file at /home/ada/.x.lock: Read-only file system" >&2; exit 1`
      return ++starts > failures
        ? { ...notIsolated(requested), isConfined: true }
        : { ...notIsolated({ program: '/bin/sh', args: ['-c', text], env: {} }), isConfined: true }
    },
  })
  onTestFinished(() => shell.close(false))
  const heard: string[] = []
  const run = (command: string, options: ExecOptions = {}) =>
    shell.exec(command, { ...options, onOutput: (text) => heard.push(text) }, () => undefined)
  return { cwd, run, heard, starts: () => starts }
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
