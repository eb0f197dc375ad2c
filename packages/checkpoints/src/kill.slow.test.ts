// SIGKILL at points spread over a checkpoint and over a restore. The kills come after a growing share of the time the work takes, so
// that they fall into each of its steps; what they must leave behind does not depend on where they fall.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { stateOf, type TestPlace, testPlace } from './__fixtures__/workspace.js'
import { createCheckpoints } from './index.js'

const KILLS = Number(process.env['HERMES_TEST_RUNS'] ?? 3)
const FILES = 80
const loader = fileURLToPath(new URL('../../testkit/src/__fixtures__/load-sources.mjs', import.meta.url))
const program = fileURLToPath(new URL('./__fixtures__/work.ts', import.meta.url))

function fill(root: string, text: string): void {
  for (let at = 0; at < FILES; at++) {
    mkdirSync(join(root, `folder ${at % 10}`), { recursive: true })
    writeFileSync(join(root, `folder ${at % 10}`, `file ${at}`), `${text} ${at}\n`.repeat(200))
  }
}

/** Starts the work and resolves once it has begun. */
async function start(what: 'take' | 'restore', { root, directory }: TestPlace) {
  const args = ['--conditions=@hermes/source', `--import=${loader}`, program, what, root, directory]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return { child, ended }
}

/** How long the work takes when nobody stops it. */
async function durationMs(what: 'take' | 'restore', place: TestPlace): Promise<number> {
  const { ended } = await start(what, place)
  const startMs = performance.now()
  await ended
  return performance.now() - startMs
}

async function killAfter(what: 'take' | 'restore', place: TestPlace, ms: number): Promise<void> {
  const { child, ended } = await start(what, place)
  await setTimeout(ms)
  child.kill('SIGKILL')
  await ended
}

describe('a kill', () => {
  it('in a restore leaves every file whole, and the same restore or its undo finishes the work', async () => {
    using place = testPlace()
    const { root, directory } = place
    const checkpoints = createCheckpoints({ directory })
    fill(root, 'before')
    const before = stateOf(root)
    await checkpoints.take(root, { kind: 'manual', reason: 'test', label: 'start' })
    const broken = () => {
      fill(root, 'after')
      rmSync(join(root, 'folder 3'), { recursive: true })
      writeFileSync(join(root, 'new'), 'new')
      return stateOf(root)
    }
    const after = broken()
    const totalMs = await durationMs('restore', place)
    expect(stateOf(root)).toEqual(before)
    for (let kill = 0; kill < KILLS; kill++) {
      broken()
      await killAfter('restore', place, (totalMs * kill) / KILLS)
      const state = stateOf(root)
      for (const [path, content] of Object.entries(state)) {
        if (!path.includes('.hermes-restore-')) expect([before[path], after[path]]).toContain(content)
      }
      const undo = checkpoints.list(root).findLast(({ kind }) => kind === 'restore')
      const goesBack = kill % 2 === 1 && undo !== undefined
      await checkpoints.restore(place.permit(), root, { wanted: goesBack ? String(undo.number) : 'start' })
      await checkpoints.restore(place.permit(), root, { wanted: 'start', force: true })
      expect(stateOf(root)).toEqual(before)
    }
  })

  it('in a checkpoint leaves the others as they are, and the next one is complete', async () => {
    using place = testPlace()
    const { root, directory } = place
    const checkpoints = createCheckpoints({ directory })
    fill(root, 'zero')
    const totalMs = await durationMs('take', place)
    for (let kill = 0; kill < KILLS; kill++) {
      fill(root, `round ${kill}`)
      await killAfter('take', place, (totalMs * kill) / KILLS)
      const state = stateOf(root)
      const { number } = await checkpoints.take(root, { kind: 'manual', reason: 'test' })
      fill(root, 'broken')
      await checkpoints.restore(place.permit(), root, { wanted: String(number), force: true })
      expect(stateOf(root)).toEqual(state)
    }
    const store = readdirSync(directory).find((name) => !name.endsWith('.lock'))
    const records = readdirSync(join(directory, store!, 'snapshots')).filter((file) => file.endsWith('.json'))
    for (const file of records)
      expect(() => JSON.parse(readFileSync(join(directory, store!, 'snapshots', file), 'utf8'))).not.toThrow()
  })
})
