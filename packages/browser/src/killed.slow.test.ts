// What is left of browsers while, once a second, something of them is killed: who owns one, the browser itself, or what shows its pages.
// HERMES_TEST_BROWSER_TASKS is how many tasks have to be done meanwhile; HERMES_TEST_SEED begins with another one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { needs } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { listenersOf, processes, type SeenProcess } from './__fixtures__/processes.js'
import { PUBLIC } from './__fixtures__/scene.js'
import { startSite } from './__fixtures__/site.js'
import { findBrowser } from './launch/find-browser.js'

const TASKS = Number(process.env['HERMES_TEST_BROWSER_TASKS'] ?? 6)
const SEED = Number(process.env['HERMES_TEST_SEED'] ?? 0)
const OWNERS = 2
const VICTIMS = ['browser', 'owner', 'page'] as const
const WORKER = fileURLToPath(new URL('./__fixtures__/work-until-killed.ts', import.meta.url))
const LOADER = fileURLToPath(new URL('../../testkit/src/__fixtures__/load-sources.mjs', import.meta.url))
/** What a task that met a kill says. */
const LINES =
  /^(?:The browser has gone|The page crashed|The page was closed meanwhile|The page was not opened|No page is open|\S+ did not start: it was ended by|e\d+ \(textbox "F"\) is gone)/
/** What one says that took all the time of a call: seldom, what shows a page is killed at a moment that the browser itself does not hear of. */
const LATE = /^The page did not get there within/

const missing = await findBrowser({ env: process.env, executable: null }).then(
  () => (process.platform === 'linux' ? null : 'no /proc'),
  () => 'no Chromium',
)

/** Processes that work on pages, in one home. */
class Owners {
  readonly folder: string
  readonly #address: string
  readonly running = new Set<ChildProcess>()
  readonly groups = new Set<number>()
  readonly failures: string[] = []
  tasks = 0

  constructor(folder: string, address: string) {
    this.folder = folder
    this.#address = address
  }

  start(): ChildProcess {
    const args = ['--conditions=@hermes/source', `--import=${LOADER}`, WORKER, this.folder, this.#address]
    const env = { ...process.env, TMPDIR: join(this.folder, 'tmp') }
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.running.add(child)
    child.once('exit', () => this.running.delete(child))
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'done') this.tasks++
      if (line.startsWith('failed ')) this.failures.push(line.slice(7))
    })
    return child
  }

  /** The browsers of one owner, or of all, and their groups, which are remembered. */
  async browsers(pid: number | '' = ''): Promise<readonly SeenProcess[]> {
    const mark = `--user-data-dir=${join(this.folder, 'cache', `run-${pid}`)}`
    const all = (await processes()).filter(({ command }) => command.includes(mark) && !command.includes('--type='))
    for (const { group, pid: id } of all) if (group === id) this.groups.add(group)
    return all
  }

  /** Kills one thing. Resolves with whether there was one. */
  async kill(victim: (typeof VICTIMS)[number], owner: ChildProcess): Promise<boolean> {
    const [browser] = await this.browsers(owner.pid)
    if (victim !== 'owner') {
      const pages = (await processes()).filter(
        ({ group, command }) => group === browser?.pid && command.includes('--type=renderer'),
      )
      const target = victim === 'browser' ? browser : pages.at(-1)
      return target !== undefined && killed(target.pid)
    }
    const ended = once(owner, 'exit')
    owner.kill('SIGKILL')
    await ended
    await expect.poll(() => this.left(join(this.folder, 'cache', `run-${owner.pid}-`)), { timeout: 30_000 }).toEqual([])
    this.start()
    return true
  }

  /** What runs with a folder in its words; also what was seen to belong to a browser of these owners, unless one of them is meant. */
  async left(folder = this.folder): Promise<readonly string[]> {
    const isLeft = ({ group, command }: SeenProcess) =>
      command.includes(folder) || (folder === this.folder && this.groups.has(group))
    const all = await processes()
    return all.filter((one) => isLeft(one) && one.pid !== process.pid).map(({ command }) => command.slice(0, 200))
  }

  /** Lets one end by itself. Resolves once it has closed all, with what still listens for browsers. */
  async finish(owner: ChildProcess): Promise<number> {
    const closed = new Promise<void>((resolve) => {
      createInterface(owner.stdout!).on('line', (line) => line === 'closed' && resolve())
    })
    const ended = once(owner, 'exit')
    owner.stdin!.end()
    await Promise.race([closed, ended])
    const listeners = await listenersOf(owner.pid!)
    owner.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    return listeners
  }
}

/** Whether there was one: it may have ended by itself since it was seen. */
function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

needs(missing)('a kill every second', () => {
  it(`leaves no browser, no folder and no proxy, during ${TASKS} tasks`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hermes-killed-'))
    await mkdir(join(folder, 'tmp'))
    await using site = await startSite(PUBLIC, { '/': '<!doctype html><title>T</title><input aria-label=F>' })
    const owners = new Owners(folder, `http://site.test:${site.port}/`)
    const kills = { owner: 0, browser: 0, page: 0 }
    try {
      for (let at = 0; at < OWNERS; at++) owners.start()
      for (let second = SEED; owners.tasks < TASKS || Object.values(kills).includes(0); second++) {
        const { tasks } = owners
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        // Where a browser takes longer to start than the time between two kills, no task would ever be done.
        if (second % 4 === 0) await expect.poll(() => owners.tasks, { timeout: 60_000 }).toBeGreaterThan(tasks)
        const owner = [...owners.running][second % OWNERS]!
        // What was killed least; one that has just been started may have no page yet.
        for (const victim of VICTIMS.toSorted((left, right) => kills[left] - kills[right])) {
          if (!(await owners.kill(victim, owner))) continue
          kills[victim]++
          break
        }
      }
      for (const owner of [...owners.running]) expect(await owners.finish(owner)).toBe(0)
      // One that comes after them takes away what the killed ones left.
      expect(await owners.finish(await afterTask(owners))).toBe(0)
      expect(await owners.left()).toEqual([])
      expect(await readdir(join(folder, 'cache'))).toEqual([])
      expect(await readdir(join(folder, 'tmp'))).toEqual([])
      const late = owners.failures.filter((line) => LATE.test(line)).length
      expect(late).toBeLessThanOrEqual(owners.tasks / 100)
      expect(owners.failures.filter((line) => !LINES.test(line) && !LATE.test(line))).toEqual([])
      process.stdout.write(
        `${owners.tasks} tasks, killed ${JSON.stringify(kills)}, ${owners.failures.length} tasks said so, ${late} of them late: nothing left\n`,
      )
    } finally {
      for (const owner of owners.running) owner.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    }
  }, 7_200_000)
})

async function afterTask(owners: Owners): Promise<ChildProcess> {
  const owner = owners.start()
  const { tasks } = owners
  await expect.poll(() => owners.tasks, { timeout: 60_000 }).toBeGreaterThan(tasks)
  return owner
}
