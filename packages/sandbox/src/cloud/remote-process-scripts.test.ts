import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { askRemoteProcess, startRemoteProcess } from './remote-process-scripts.js'

const run = (script: string, input = '') =>
  spawnSync('/bin/sh', ['-c', script], { input, maxBuffer: 64 * 1024 * 1024 }).stdout

function start(script: string, input = '') {
  const folder = `/tmp/hermes-job-${randomBytes(8).toString('hex')}`
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  run(startRemoteProcess(folder, script, 'whole'), input)
  return folder
}

function awaitEnd(folder: string): void {
  while (!existsSync(`${folder}/closed`)) run('sleep 0.02')
}

function ask(folder: string, position: number, more: { readonly ticks?: number; readonly tidy?: boolean } = {}) {
  const text = run(askRemoteProcess({ folder, position, ticks: 400, tidy: false, ...more }))
  const end = text.indexOf(10)
  const [at, state, code] = text.toString('latin1', 0, end).split(' ')
  return { at: Number(at), state, code, output: text.subarray(end + 1) }
}

needs(missingPrograms('setsid'))('a job', () => {
  it('runs a script once, however often it is started, and tells its output from any position', () => {
    const folder = start('cat; echo more; exit 3', 'some\n')
    run(startRemoteProcess(folder, 'echo other', 'whole'))
    awaitEnd(folder)
    const all = ask(folder, 0)
    expect({ ...all, output: all.output.toString() }).toEqual({
      at: 0,
      state: 'ended',
      code: '3',
      output: 'some\nmore\n',
    })
    expect(ask(folder, 5).output.toString()).toBe('more\n')
    expect(ask(folder, 0, { tidy: true }).state).toBe('ended')
    expect([existsSync(folder), ask(folder, 7)]).toMatchObject([false, { at: 7, state: 'gone', code: '-' }])
  })

  it('keeps the newest of more output than it may, and goes on from there', () => {
    const folder = start('head -c 100000000 /dev/zero; echo end')
    awaitEnd(folder)
    const kept = readdirSync(folder).filter((name) => name.startsWith('out.'))
    const bytes = kept.reduce((sum, name) => sum + readFileSync(`${folder}/${name}`).length, 0)
    expect(bytes).toBeLessThan(90_000_000)
    expect(bytes).toBeGreaterThan(30_000_000)
    const first = ask(folder, 1_000)
    expect([first.at, first.state]).toEqual([100_000_004 - bytes, 'running'])
    let position = first.at + first.output.length
    for (;;) {
      const { at, state, output } = ask(folder, position)
      expect(at).toBe(position)
      position += output.length
      if (state === 'ended') break
    }
    expect(position).toBe(100_000_004)
  })

  it('has ended, in a way nobody knows, when its keeper was killed', () => {
    const folder = start('sleep 3')
    const [keeper] = readFileSync(`${folder}/keeper`, 'utf8').split(' ')
    expect(ask(folder, 0, { ticks: 0 })).toMatchObject({ state: 'running', code: '-' })
    process.kill(-Number(keeper), 'SIGKILL')
    expect(ask(folder, 0)).toMatchObject({ state: 'ended', code: '-' })
  })
})
