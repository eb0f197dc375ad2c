// One run of the built CLI that is killed with SIGKILL at a chosen moment, judged by what it left behind, and continued.
import { watch } from 'node:fs'
import { cp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentEvent } from '@hermes/agent-core'
import { openStorage, type Storage } from '@hermes/storage'
import { checkPrefix, type ModelStep, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect } from 'vitest'
import { type CliOptions, parseEvents, runCli, startCli } from '../support/cli.js'
import { type Phase, phaseOf } from './phase.js'

/** A phase to aim at, or any moment of the whole run. */
export type Target = Phase | 'any moment'

/** What one kill hit and how the session went on. */
export interface KillReport {
  readonly target: Target
  /** `null` when the run had ended by itself before it could be killed. */
  readonly phase: Phase | null
  readonly lastEvent: string
  readonly requests: number
  readonly resumedWith: string
  readonly resumedInMs: number
}

type Entry = Awaited<ReturnType<Storage['log']['entries']>>[number]

/** Assistant messages before the final answer; the second one has two calls. */
const STEPS = 3
const TWO_CALLS_STEP = 1
const RUN_MS = 1_000

/** Kills one run and checks all that must hold afterwards. */
export async function killRun(target: Target, random: () => number): Promise<KillReport> {
  await using home = await temporaryHome()
  const server = await startModelServer()
  try {
    const trial = new Trial(target, random, { home: join(home.path, '.hermes'), cwd: home.path })
    server.setHandler(async ({ body }) => {
      trial.onRequest()
      await trial.pause()
      return script(body.messages)
    })
    const flags = ['--base-url', server.baseUrl, '-m', 'test', '--yolo', '--json']
    const killed = await trial.run(flags)
    await fetch(`${server.baseUrl}/models`) // What the killed run had sent is with the server by now.
    const requests = server.requests.length
    const phase = killed && phaseOf({ events: trial.events, requests, effects: await trial.effects(), steps: STEPS })
    await trial.expectStored(trial.events)
    await trial.expectNoProcesses()
    const { how, ms } = await trial.resume(flags)
    for (let index = 1; index < server.requests.length; index++)
      expect(checkPrefix(server.requests[index - 1]!, server.requests[index]!), `request ${index + 1}`).toBeNull()
    expect(server.violations).toEqual([])
    await trial.expectEffectsOnce()
    const lastEvent = trial.events.at(-1)?.type ?? 'none'
    return { target, phase: phase || null, lastEvent, requests, resumedWith: how, resumedInMs: ms }
  } finally {
    await server.close()
  }
}

/** Where its text came from is noted in the log alone. */
function asShown(part: object): object {
  const { sources: _, taints: __, ...shown } = part as { readonly sources?: unknown; readonly taints?: unknown }
  return shown
}

/** Turn N asks for a command that leaves a mark of its own, however often the run was interrupted. */
function script(messages: readonly { readonly role: string; readonly content?: unknown }[]): ModelStep {
  // Half an answer, kept because it took longer than a second, is no step.
  const isStep = ({ role, content }: (typeof messages)[number]) =>
    role === 'assistant' && !JSON.stringify(content ?? '').includes('cut off here')
  const step = messages.filter(isStep).length
  if (step >= STEPS) return { text: `All ${STEPS} steps are done. `.repeat(8), chunkSize: 8, latencyMs: 1 }
  const ids = step === TWO_CALLS_STEP ? [`step-${step}a`, `step-${step}b`] : [`step-${step}`]
  return {
    text: `Step ${step} comes now, as planned before. `.repeat(3),
    chunkSize: 8,
    latencyMs: 1,
    toolCalls: ids.map((id) => ({ id, name: 'terminal', args: { command: commandOf(id) } })),
  }
}

/** Leaves its mark, and stays for a minute with a child of its own where the kill is to find it running. */
function commandOf(id: string): string {
  return `echo ${id} >> effects.log; if test -e hang; then sleep 60 | cat; fi; echo done ${id}`
}

class Trial {
  events: AgentEvent[] = []
  readonly #target: Target
  readonly #random: () => number
  readonly #options: CliOptions
  readonly #nth: number
  #kill: (() => void) | null = null
  #stdout = ''
  #requests = 0

  constructor(target: Target, random: () => number, options: CliOptions) {
    this.#target = target
    this.#random = random
    this.#options = options
    this.#nth = 1 + Math.floor(random() * STEPS)
  }

  /** Runs until it is killed; `false` when it ended by itself first. */
  async run(flags: readonly string[]): Promise<boolean> {
    if (this.#target === 'during the tool') await writeFile(join(this.#options.cwd, 'hang'), '')
    const child = startCli(['chat', '-q', 'Do the steps.', ...flags], this.#options)
    this.#kill = () => child.kill('SIGKILL')
    if (this.#target === 'start') this.#arm(300)
    if (this.#target === 'any moment') this.#arm(RUN_MS)
    const isMark = (name: string | null) => this.#target === 'during the tool' && name === 'effects.log'
    const watcher = watch(this.#options.cwd, (_, name) => isMark(name) && this.#arm(50))
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
      const end = this.#stdout.lastIndexOf('\n') + 1
      this.events.push(...parseEvents(this.#stdout.slice(0, end)))
      this.#stdout = this.#stdout.slice(end)
      this.#onEvents()
    })
    await new Promise((resolve) => child.once('close', resolve))
    watcher.close()
    return child.signalCode === 'SIGKILL'
  }

  onRequest(): void {
    if (++this.#requests === this.#nth && this.#target === 'waiting for the model') this.#arm(10)
  }

  /** The model thinks for a moment before it answers. */
  pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.#random() * 15))
  }

  #onEvents(): void {
    const withinMs = this.#delayAfterEvents()
    if (withinMs !== null) this.#arm(withinMs)
  }

  /** How long after the events so far the kill may come at most; `null` while its moment is not there. */
  #delayAfterEvents(): number | null {
    const count = (type: AgentEvent['type']) => this.events.filter((event) => event.type === type).length
    const open = count('message-start') > count('message-end')
    switch (this.#target) {
      case 'model streaming':
        return open && count('message-start') >= this.#nth ? 20 : null
      case 'between message and tool':
        return count('message-end') >= this.#nth ? 2 : null
      case 'during the tool':
        // Its mark says when, however slow the machine is: see `run`.
        return null
      case 'between tool and next request':
        return count('tool-end') >= this.#nth ? 2 : null
      case 'final answer streaming':
        return open && count('message-start') > STEPS ? 20 : null
      case 'after the end':
        return count('run-end') > 0 ? 4 : null
      case 'start':
      case 'waiting for the model':
      case 'any moment':
        return null
      default:
        return this.#target satisfies never
    }
  }

  /** Kills at once half of the time where the window is small, else some time within `withinMs`. */
  #arm(withinMs: number): void {
    const kill = this.#kill
    this.#kill = null
    if (!kill) return
    if (withinMs <= 10 && this.#random() < 0.5) kill()
    else setTimeout(kill, this.#random() * withinMs)
  }

  /** The database is sound, and whatever was shown is in it with the same bytes. */
  async expectStored(shown: readonly AgentEvent[]): Promise<void> {
    await withCopy(this.#options.home, async (storage) => {
      expect((await storage?.maintenance.check()) ?? []).toEqual([])
      for (const event of shown) {
        if (event.type !== 'message-end' && event.type !== 'tool-end') continue
        const [entry] = (await storage?.log.entries(event.sessionId, { afterSeq: event.seq! - 1 })) ?? []
        expect(entry, `entry ${event.seq}, which was shown`).toMatchObject({ type: 'message', seq: event.seq })
        const { message } = entry as Entry & { type: 'message' }
        if (event.type === 'message-end') expect(message).toStrictEqual(event.message)
        else expect(message.content.slice(0, event.content.length).map(asShown)).toStrictEqual(event.content)
      }
    })
  }

  /** Nothing the killed run had started is left: every process of it has the temporary home in its environment. */
  async expectNoProcesses(): Promise<void> {
    await expect.poll(() => processesOf(this.#options.cwd), { timeout: 10_000, interval: 20 }).toEqual([])
  }

  /** Continues in a new process: with a new message, or with nothing but `-c`. */
  async resume(flags: readonly string[]): Promise<{ readonly how: string; readonly ms: number }> {
    await rm(join(this.#options.cwd, 'hang'), { force: true })
    const begun = await withCopy(this.#options.home, async (storage) => (await storage?.sessions.latest()) != null)
    const how = begun ? (this.#random() < 0.5 ? '-c -q' : '-c') : 'anew'
    const args = { '-c -q': ['-c', '-q', 'Go on.'], '-c': ['-c'], anew: ['-q', 'Do the steps.'] }[how]
    const startedAtMs = performance.now()
    const resumed = await runCli(['chat', ...args, ...flags], this.#options)
    const ms = Math.round(performance.now() - startedAtMs)
    expect({ exitCode: resumed.exitCode, stderr: resumed.stderr }).toEqual({ exitCode: 0, stderr: '' })
    const events = parseEvents(resumed.stdout)
    expect(events.at(-1)).toMatchObject({ type: 'run-end', result: { status: 'completed' } })
    await this.expectStored([...this.events, ...events])
    return { how, ms }
  }

  async effects(): Promise<readonly string[]> {
    const text = await readFile(join(this.#options.cwd, 'effects.log'), 'utf8').catch(() => '')
    return text.split('\n').filter(Boolean)
  }

  async expectEffectsOnce(): Promise<void> {
    const effects = await this.effects()
    expect([...new Set(effects)]).toEqual(effects)
  }
}

/** Opens a copy of the database, so that recovering the real one stays the product's work; `null` when there is none yet. */
async function withCopy<T>(home: string, look: (storage: Storage | null) => Promise<T>): Promise<T> {
  await using copy = await temporaryHome()
  const files = (await readdir(home).catch(() => [])).filter((name) => /^state\.db(?:-wal)?$/.test(name))
  for (const name of files) await cp(join(home, name), join(copy.path, name))
  if (!files.includes('state.db')) return look(null)
  const storage = await openStorage({ path: join(copy.path, 'state.db') })
  try {
    return await look(storage)
  } finally {
    await storage.close()
  }
}

/** Command lines of processes that have `marker` in their command line, environment or directory. */
async function processesOf(marker: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
    const [command, env, cwd] = [
      await read('cmdline'),
      await read('environ'),
      await readlink(`/proc/${pid}/cwd`).catch(() => ''),
    ]
    if ([command, env, cwd].some((text) => text.includes(marker))) found.push(command.replaceAll('\0', ' ').trim())
  }
  return found
}
