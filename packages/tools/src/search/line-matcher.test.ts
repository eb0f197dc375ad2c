import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createLineMatcher } from './line-matcher.js'

const row = (at: number) => `${at % 3 === 0 ? 'a needle' : 'hay'} ${'.'.repeat(at % 200)} ${at}`
const long = Array.from({ length: 20_000 }, (_, at) => row(at))
const short = Array.from({ length: 40 }, (_, at) => row(at))
const files = [short, long, [], ['one needle'], [`needle ${'x'.repeat(600_000)}`, 'needle'], short]

const TRAP = `${'a'.repeat(40)}!`

function matcher(pattern: string, signal = new AbortController().signal) {
  const made = createLineMatcher(pattern, signal)
  onTestFinished(async () => {
    await made.end()
    expect(running.size).toBe(0)
  })
  return made
}

/** Threads that were started, and those of them that run still. */
const [started, running] = [new Set<Worker>(), new Set<Worker>()]
const noteThread = (message: unknown) => {
  const { worker } = message as { readonly worker: Worker }
  started.add(worker)
  running.add(worker)
  worker.once('exit', () => running.delete(worker))
}
beforeEach(() => {
  started.clear()
  subscribe('worker_threads', noteThread)
})
afterEach(() => unsubscribe('worker_threads', noteThread))

/** How often other work had its turn. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false]
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work.catch(() => undefined)
  isOver = true
  return turns
}

describe.each(['needle', 'ne+dle'])('a matcher of %s', (pattern) => {
  it('gives the numbers of lines, however long the files are', async () => {
    const expected = files.map((lines) => lines.flatMap((line, at) => (line.includes('needle') ? [at] : [])))
    expect(await matcher(pattern).match(files)).toEqual(expected)
  })

  it('lets other work have its turn', async () => {
    expect(await turnsDuring(matcher(pattern).match(files))).toBeGreaterThanOrEqual(4)
  })
})

describe('a matcher of an expression that takes long', () => {
  it('goes on in a thread, with the same result', async () => {
    const lines = ['aaa', `${'a'.repeat(22)}!`, 'b', 'aa']
    const { match } = matcher('^(a+)+$')
    const hits = [0, 3]
    expect(await match([lines, lines])).toEqual([hits, hits])
    expect(await match([['a'], lines])).toEqual([[0], hits])
    expect(started.size).toBe(1)
  })

  it('gives up when it does not end, and lets other work have its turn till then', async () => {
    const trapped = matcher('^(a+)+$').match([[TRAP]])
    expect(await turnsDuring(trapped)).toBeGreaterThan(20)
    await expect(trapped).rejects.toMatchObject({ code: 'tool.bad_pattern' })
  })

  it('stops at once when it is aborted', async () => {
    const aborting = new AbortController()
    const trapped = matcher('^(a+)+$', aborting.signal).match([[TRAP]])
    setTimeout(() => aborting.abort(new Error('enough')), 200)
    await expect(trapped).rejects.toThrow('enough')
  })
})
