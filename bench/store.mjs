// The session store: appends, searches, size and opening, beside the same corpus in schema 11 of the reference format.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atLeast, atMost, row } from './report.mjs'
import { createRandom } from './store/corpus.mjs'
import { openDatabase } from './store/database.mjs'
import { drawQueries } from './store/queries.mjs'
import { appendToSchema11, buildSchema11, searchSchema11 } from './store/schema-11.mjs'

const folder = import.meta.dirname
const APPENDS = 5_000
const WRITERS = 8
const SEARCHES = 200
const SEARCH_SECONDS = 600
const LIMIT_MS = { word: 10, phrase: 10, prefix: 10, boolean: 10, filtered: 10, chinese: 30, question: 100 }

/** @param {{ rounds: number, messages?: number, workspace: { directory: string } }} options */
export async function sessionStore({ rounds, messages = 20_000, workspace }) {
  const scratch = join(workspace.directory, 'store')
  mkdirSync(scratch)
  const [ours, floor] = [join(scratch, 'state.db'), join(scratch, 'schema-11.db')]
  const rows = [
    ...(await appends(scratch, rounds)),
    ...(await crowd(scratch)),
    ...(await longWords(scratch, rounds)),
    ...(await recall(scratch)),
  ]
  await run('build', ours, { messages })
  const { bytes } = buildSchema11(floor, messages)
  openDatabase(ours).exec('PRAGMA wal_checkpoint(TRUNCATE)').close()
  const opened = []
  for (let round = 0; round < rounds; round++) opened.push(await run('open', ours))
  rows.push(
    row(`${messages} messages: file`, 'MB', [statSync(ours).size / 1e6]),
    row(`${messages} messages: file of schema 11`, 'MB', [bytes / 1e6]),
    row('  over schema 11', 'x', [statSync(ours).size / bytes], atMost(0.333)),
    row(
      'open',
      'ms',
      opened.map(({ openMs }) => openMs),
      atMost(30),
    ),
    row(
      'list',
      'ms',
      opened.map(({ listMs }) => listMs),
      atMost(5),
    ),
    row(
      'resume',
      'ms',
      opened.map(({ resumeMs }) => resumeMs),
      atMost(5),
    ),
    ...(await searches(ours, floor)),
    ...(await searchesOnServer(ours, messages)),
  )
  rmSync(scratch, { recursive: true })
  return rows
}

async function appends(scratch, rounds) {
  const own = []
  const floors = []
  for (let round = 0; round < rounds; round++) {
    own.push((await run('append', join(scratch, 'append.db'), { session: `s${round}`, count: APPENDS })).perSecond)
    floors.push(appendToSchema11(join(scratch, `floor-${round}.db`), APPENDS))
  }
  return [row('append, one process', '1/s', own, atLeast(5_000)), row('append, schema 11', '1/s', floors)]
}

async function crowd(scratch) {
  const path = join(scratch, 'crowd.db')
  await run('make', path)
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    run('append', path, { session: `s${index}`, count: 1_000 }),
  )
  const results = await Promise.all(writers)
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  return [
    row(
      `append, ${WRITERS} processes: p99`,
      'ms',
      results.map(({ p99 }) => p99),
      atMost(250),
    ),
    row('  errors', '', [sum('errors')], atMost(0)),
    row('  lost', '', [sum('lost')], atMost(0)),
  ]
}

async function longWords(scratch, rounds) {
  const runs = []
  for (let round = 0; round < rounds; round++) runs.push(await run('longWord', join(scratch, 'long.db')))
  const wordsOf = (key) => runs.map((one) => one[key])
  return [
    row('one word of 1 MB: its words for the file', 'ms', wordsOf('fileMs'), atMost(50)),
    row('  for PostgreSQL', 'ms', wordsOf('serverMs'), atMost(50)),
  ]
}

async function recall(scratch) {
  const { typed, words } = await run('recall', join(scratch, 'recall.db'))
  return [
    row('right session among five: by the words of a question', '%', [words * 100], atLeast(88)),
    row('  as it was typed', '%', [typed * 100], atLeast(85)),
  ]
}

async function searches(ours, floor) {
  const appending = start('append', ours, {
    session: 'meanwhile',
    count: 1e9,
    perSecond: 100,
    forMs: SEARCH_SECONDS * 1_000,
  })
  const { p95, heldMs, firstPartMs } = await run('search', ours, { each: SEARCHES })
  const ended = once(appending, 'exit')
  appending.kill()
  await ended
  const words = drawQueries(ours, { random: createRandom(7), each: SEARCHES }).word.map((query) => query.text)
  const floors = searchSchema11(floor, words).sort((a, b) => a - b)
  return [
    ...Object.entries(p95).map(([kind, ms]) =>
      row(`search, ${kind}: p95`, 'ms', [ms], LIMIT_MS[kind] ? atMost(LIMIT_MS[kind]) : {}),
    ),
    row('search, part of a word: the first of a process', 'ms', [firstPartMs]),
    row('search, word, schema 11: p95', 'ms', [floors[Math.floor(floors.length * 0.95)]]),
    row('search: event loop held, worst', 'ms', [heldMs], atMost(50)),
  ]
}

/** The same questions on PostgreSQL; no rows where that is not installed. */
async function searchesOnServer(ours, messages) {
  const { p95, heldMs } = await outputOf(
    spawnSources('store/server.mjs', ours, JSON.stringify({ messages, each: SEARCHES })),
    'server',
  )
  if (!p95) return []
  return [
    ...Object.entries(p95).map(([kind, ms]) =>
      row(`search on PostgreSQL, ${kind}: p95`, 'ms', [ms], kind === 'question' ? atMost(LIMIT_MS[kind]) : {}),
    ),
    row('search on PostgreSQL: event loop held, worst', 'ms', [heldMs], atMost(50)),
  ]
}

function start(job, path, options = {}) {
  return spawnSources('store/process.mjs', job, path, JSON.stringify(options))
}

function spawnSources(script, ...args) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const flags = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, script)]
  return spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Runs one job to its end and gives back what it printed. */
export const run = (job, path, options) => outputOf(start(job, path, options), job)

async function outputOf(child, name) {
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the ${name} process of the store ended with ${code}`)
  return JSON.parse(output)
}
