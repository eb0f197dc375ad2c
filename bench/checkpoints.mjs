// Checkpoints of a workspace of 50,000 files, beside what git and find take for the same files, and a process that only asks for the facts of each.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { atMost, row } from './report.mjs'

const folder = import.meta.dirname
const FOLDERS = 2_500
const FILES_PER_FOLDER = 20
const CHANGED = 5

/** @param {{ rounds: number, workspace: { directory: string } }} options */
export async function checkpoints({ rounds, workspace }) {
  const scratch = join(workspace.directory, 'checkpoints')
  const root = join(scratch, 'workspace')
  fill(root)
  const samples = {
    first: [],
    same: [],
    changed: [],
    restore: [],
    held: [],
    gitFirst: [],
    gitNext: [],
    find: [],
    bare: [],
  }
  for (let round = 0; round < rounds; round++) {
    const store = join(scratch, `store-${round}`)
    const git = ['--git-dir', join(scratch, `git-${round}`), '--work-tree', root]
    execFileSync('git', [...git, 'init', '-q'], { stdio: 'ignore' })
    samples.find.push(timed(() => execFileSync('find', [root, '-printf', '%s %C@ %p\\n'], { maxBuffer: 2 ** 27 })))
    samples.gitFirst.push(timed(() => execFileSync('git', [...git, 'add', '-A', '-f'], { stdio: 'ignore' })))
    const first = await run({ root, store })
    samples.first.push(first.ms)
    const same = await run({ root, store })
    samples.same.push(same.ms)
    samples.bare.push((await run({ root, bare: true })).ms)
    for (let at = 0; at < CHANGED; at++) appendFileSync(fileAt(root, (round * CHANGED + at) * 97), `\nround ${round}\n`)
    samples.gitNext.push(timed(() => execFileSync('git', [...git, 'add', '-A', '-f'], { stdio: 'ignore' })))
    const changed = await run({ root, store })
    samples.changed.push(changed.ms)
    const restored = await run({ root, store, restore: '1' })
    samples.restore.push(restored.ms)
    samples.held.push(Math.max(first.heldMs, same.heldMs, changed.heldMs, restored.heldMs))
    rmSync(store, { recursive: true })
    rmSync(join(scratch, `git-${round}`), { recursive: true })
  }
  rmSync(scratch, { recursive: true })
  return [
    row('checkpoint of 50,000 files: find', 'ms', samples.find),
    row('checkpoint of 50,000 files: git add, first', 'ms', samples.gitFirst),
    row('checkpoint of 50,000 files: first', 'ms', samples.first, atMost(5_000)),
    row('checkpoint of 50,000 files: git add, 5 changed', 'ms', samples.gitNext),
    row('checkpoint of 50,000 files: 5 changed', 'ms', samples.changed, atMost(300)),
    row('checkpoint of 50,000 files: nothing changed', 'ms', samples.same, atMost(300)),
    row('  over a bare look at each file', 'x', over(samples.same, samples.bare), atMost(2)),
    row('checkpoint of 50,000 files: a bare look at each', 'ms', samples.bare),
    row('going back to the first one', 'ms', samples.restore),
    row('event loop held for', 'ms', samples.held, atMost(50)),
  ]
}

/** Each sample beside the one of the same round: a busy machine is slower at both. */
const over = (samples, floors) => samples.map((ms, at) => ms / floors[at])

function fill(root) {
  for (let at = 0; at < FOLDERS; at++) {
    mkdirSync(folderAt(root, at), { recursive: true })
    for (let file = 0; file < FILES_PER_FOLDER; file++) {
      const number = at * FILES_PER_FOLDER + file
      const line = `export const value${number} = ${Math.sin(number)}\n`
      writeFileSync(fileAt(root, number), `// ${number}\n${line.repeat(20 + (number % 100))}`)
    }
  }
}

function folderAt(root, at) {
  return join(root, `package-${at % 50}`, 'src', `module-${Math.floor(at / 50)}`)
}

function fileAt(root, number) {
  return join(folderAt(root, Math.floor(number / FILES_PER_FOLDER)), `file-${number % FILES_PER_FOLDER}.ts`)
}

function timed(work) {
  const startMs = performance.now()
  work()
  return performance.now() - startMs
}

/** One checkpoint or restore in a process of its own, as after a fresh start; the time is that of the work alone. */
async function run(job) {
  const loader = join(folder, '../packages/testkit/src/__fixtures__/load-sources.mjs')
  const args = ['--conditions=@hermes/source', `--import=${loader}`, join(folder, 'checkpoints/process.mjs')]
  const child = spawn(process.execPath, [...args, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`the process that takes checkpoints ended with ${code}`)
  return JSON.parse(output)
}
