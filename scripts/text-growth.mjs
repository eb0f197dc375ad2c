// node scripts/text-growth.mjs [--full] [--only NAME]: feeds every exported function whose first parameter is text with words, lines,
// nestings and near-misses of the patterns in its file, and names those whose processor time grows faster than the text.
// Without --full those of random packages, a quarter of all, get a random part of the texts, at most 64 KB; HERMES_TEST_SEED repeats a choice. With it:
// all of them, and 1 MB.
// Exit codes: 0 all grow with the text, 1 some do not, 2 no function was found or a wrong option.
import { hash, randomInt } from 'node:crypto'
import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { readOptions } from './options.mjs'
import { textFunctions } from './text-growth/find.mjs'

/** One function that takes longer than that has stopped for good. */
const HANGS_AFTER_MS = 60_000

const { values } = readOptions(import.meta.filename, { full: { type: 'boolean' }, only: { type: 'string' } })
const seed = Number(process.env.HERMES_TEST_SEED ?? randomInt(2 ** 31))
const root = resolve(import.meta.dirname, '..')
const all = textFunctions(root).filter(({ name }) => values.only === undefined || name === values.only)
const functions = values.full || values.only !== undefined ? all : quarterOf(all)

process.exitCode = await main()

async function main() {
  if (functions.length === 0) {
    console.error('text-growth: no function found')
    return 2
  }
  const findings = []
  for (let first = 0; first < functions.length; ) first += await feed(functions.slice(first), findings)
  console.log(
    `text-growth: ${functions.length} of ${all.length} functions, ${findings.length} grow too fast (HERMES_TEST_SEED=${seed})`,
  )
  return findings.length === 0 ? 0 : 1
}

/** Whole packages, as most of the time goes into loading them. */
function quarterOf(all) {
  const packages = Object.entries(Object.groupBy(all, ({ file }) => file.split('/')[1]))
  const drawn = packages.toSorted(([one], [other]) => (hash('md5', seed + one) < hash('md5', seed + other) ? -1 : 1))
  const functions = []
  for (const [, own] of drawn)
    if (functions.length === 0 || functions.length + own.length < all.length / 4) functions.push(...own)
  return functions
}

/** At once: all of them take most of an hour. */
function report(findings, { file, name }, problem) {
  findings.push(name)
  console.log(`${file} ${name}: ${problem}`)
}

/** Feeds functions in one thread until all are done or one hangs. Gives how many it came through. */
function feed(rest, findings) {
  const { promise, resolve: settle, reject } = Promise.withResolvers()
  const workerData = { root, functions: rest, seed, full: values.full ?? false }
  const worker = new Worker(new URL('text-growth/feed.mjs', import.meta.url), { workerData, env: {}, stdout: true })
  let [done, at] = [0, 'loading']
  let timer
  const watch = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      report(findings, rest[done], `does not come back from ${at}`)
      worker.terminate().then(() => settle(done + 1), reject)
    }, HANGS_AFTER_MS)
  }
  watch()
  worker.on('message', (message) => {
    watch()
    if (message.type === 'text') at = message.text
    else if (message.type === 'slow') report(findings, rest[done], message.problem)
    else done++
  })
  worker.on('error', reject)
  worker.on('exit', () => {
    clearTimeout(timer)
    settle(Math.min(done + (done < rest.length ? 1 : 0), rest.length))
  })
  return promise
}
