import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, silentLogger, systemClock } from '@hermes/contracts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { shellProgram } from '../shell/shell-script.js'
import { trimLog } from './process-log.js'
import { ProcessTable } from './process-table.js'

async function open(clock: Clock = systemClock) {
  const outputDir = await mkdtemp(join(tmpdir(), 'hermes-table-'))
  const table = new ProcessTable({ program: shellProgram('/bin/bash'), outputDir, clock, logger: silentLogger })
  onTestFinished(async () => {
    await table.close(false)
    await rm(outputDir, { recursive: true, force: true })
  })
  const start = (command: string) => table.spawn(command, outputDir, { PATH: '/usr/bin:/bin' })
  return { table, start, directory: join(outputDir, 'processes') }
}

describe('process table', () => {
  it('keeps finished processes for half an hour, then removes their files', async () => {
    let nowMs = 1_000
    const { table, start, directory } = await open({ ...systemClock, now: () => nowMs })
    const done = await start('echo hi')
    await done.wait()
    nowMs += 30 * 60_000
    expect(table.list()).toHaveLength(1)
    nowMs += 1
    expect(table.list()).toEqual([])
    expect(await readdir(directory)).toEqual([])
  })

  it('tracks 64 processes: the oldest finished one makes room, running ones do not', async () => {
    const { table, start } = await open()
    const finished = await start('true')
    await finished.wait()
    for (let count = 0; count < 64; count++) await start('exec sleep 60')
    expect(table.list()).toHaveLength(64)
    expect(table.list().map((one) => one.info().id)).not.toContain(finished.info().id)
    await expect(start('true')).rejects.toMatchObject({ code: 'environment.too_many_processes' })
  })

  it('keeps records and output readable by the user alone', async () => {
    const { start, directory } = await open()
    const process = await start('true')
    await process.wait()
    for (const suffix of ['json', 'log']) {
      const { mode } = await stat(join(directory, `${process.info().id}.${suffix}`))
      expect(mode & 0o777).toBe(0o600)
    }
  })

  it('tells observers nothing once it is closed', async () => {
    const { table, start } = await open()
    const process = await start('sleep 60')
    const ends: string[] = []
    process.observe({ onExit: () => ends.push('closed table') })
    await table.close(false)
    await new Promise<unknown>((onExit) => process.observe({ onExit }))
    expect(ends).toEqual([])
  })

  it('says which signal ended a process', async () => {
    const { start } = await open()
    const process = await start('kill -9 $$')
    expect(await process.wait()).toMatchObject({ status: 'exited', exitCode: null, signal: 'SIGKILL' })
  })

  it('cuts a huge log to its end while the process goes on writing', async () => {
    const { start, directory } = await open()
    const process = await start('echo before; read line; echo after')
    const log = join(directory, `${process.info().id}.log`)
    while (!process.output().includes('before')) await systemClock.sleep(10)
    await truncate(log, 65 * 1024 * 1024)
    trimLog(log)
    process.write('\n')
    await process.wait()
    expect((await stat(log)).size).toBe(800_000 + 'after\n'.length)
    expect(process.output().endsWith('after\n')).toBe(true)
  })

  it('reports a shell that cannot be started', async () => {
    const { directory } = await open()
    const options = { outputDir: directory, clock: systemClock, logger: silentLogger }
    const table = new ProcessTable({ ...options, program: shellProgram('/no/such/shell') })
    await expect(table.spawn('true', '/', {})).rejects.toMatchObject({ code: 'environment.spawn_failed' })
    expect(table.list()).toEqual([])
  })
})
