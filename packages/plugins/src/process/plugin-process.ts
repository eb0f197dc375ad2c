// The process of one plugin as Hermes sees it: started by the first call, ended with the home, given up when it does not answer.
import { StringDecoder } from 'node:string_decoder'
import { type Clock, errorLine, HermesError, isValueTooDeep, type JsonValue, type Logger } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import { Channel, RemoteError } from '../child/channel.js'
import type { PluginListing, StartMessage } from '../listing.js'
import { shortened } from '../package/shortened.js'
import { type HostCall, HostCalls, type HostServices } from './host-calls.js'

/** How long things may take, in milliseconds. */
export interface PluginLimits {
  /** From the start of the process until its extension is set up. Default 10,000. */
  readonly setUpMs: number
  /** For an answer to a sign of life while something is called. Default 10,000. */
  readonly blockedMs: number
}

const LIMITS: PluginLimits = { setUpMs: 10_000, blockedMs: 10_000 }
/** For so long nobody asks for a sign of life: nearly every answer is there by then, and each question wakes both processes up. */
const UNWATCHED_MS = 1_000
const MOST_BYTES = 32 * 1024 * 1024
const KEPT_ERROR_CHARS = 2_000
/** Processes that ended by themselves, one after the other, until the plugin is left alone. */
const MOST_FAILURES = 3

/** What a process is started with. */
interface PluginProcessOptions extends HostServices {
  readonly name: string
  /** Rejects when the files are not what the person agreed to. */
  verify(): Promise<void>
  start(): Promise<RunningProgram>
  message(): StartMessage
  readonly limits?: Partial<PluginLimits>
  /** Told when the tools of a source have changed. */
  onChanged?(source: string): void
  readonly clock: Clock
  readonly logger: Logger
}

/** One call. */
interface ProcessCall {
  readonly signal?: AbortSignal | undefined
  readonly host?: HostCall
  /** Time in which a person is asked does not count. */
  readonly timeoutMs: number
}

/** A call under way. */
interface WatchedCall {
  readonly timeoutMs: number
  /** Whether it waits for a person or a command, so that its own time stands still. */
  readonly isWaiting: () => boolean
  /** Gives it up. */
  readonly late: (error: Error) => void
}

interface Running {
  readonly program: RunningProgram
  readonly channel: Channel
  readonly calls: HostCalls
  readonly listing: PluginListing
}

/** The process of a plugin. */
export class PluginProcess {
  readonly #options: PluginProcessOptions
  readonly #limits: PluginLimits
  #running: Promise<Running> | null = null
  #current: RunningProgram | null = null
  #heardMs = 0
  #failures = 0
  #isClosed = false
  #problem: string | null = null

  constructor(options: PluginProcessOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
  }

  /** Why it is not at work although it was wanted; `null` while nothing is wrong. */
  get problem(): string | null {
    return this.#problem
  }

  /** What it registers, started for that if need be. */
  async listing(): Promise<PluginListing> {
    return (await this.#ready()).listing
  }

  /**
   * Calls what is registered under `key`.
   * @throws HermesError `plugins.ended`, `plugins.blocked`, `plugins.timeout`, `plugins.failed` with the plugin's own words; an abort.
   */
  async call(key: string, args: unknown, { signal, host = {}, timeoutMs }: ProcessCall): Promise<JsonValue> {
    const running = await this.#ready()
    signal?.throwIfAborted()
    const { channel, calls } = running
    let id = 0
    const answer = channel.call('run', { key, args }, signal, (callId) => {
      id = callId
      calls.begin(callId, host)
    })
    const endWatch = this.#watchLater(running, {
      timeoutMs,
      isWaiting: () => calls.isWaiting(id),
      late: (error) => channel.cancel(id, error),
    })
    try {
      const value = (await answer) as JsonValue
      this.#failures = 0
      return value
    } catch (error) {
      if (signal?.aborted) throw error
      throw this.#named(error)
    } finally {
      endWatch()
      calls.end(id)
    }
  }

  /** Ends the process; the next call starts it again. */
  async restart(): Promise<void> {
    const running = this.#running
    this.#running = this.#current = null
    this.#failures = 0
    this.#problem = null
    await this.#end(running, 'it was restarted')
  }

  /** Ends the process with all it started, for good. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    const running = this.#running
    this.#running = this.#current = null
    await this.#end(running, 'it was closed')
  }

  async #end(running: Promise<Running> | null, why: string): Promise<void> {
    const known = await running?.catch(() => null)
    known?.channel.close(this.#failure('plugins.ended', why))
    await known?.program.kill()
  }

  #ready(): Promise<Running> {
    if (this.#isClosed) return Promise.reject(this.#failure('plugins.ended', 'it was closed'))
    if (this.#failures >= MOST_FAILURES)
      return Promise.reject(
        this.#failure(
          'plugins.ended',
          `it failed ${MOST_FAILURES} times and is left alone; look with hermes plugins doctor`,
        ),
      )
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#running = null
      this.#failed(errorLine(error))
      throw error
    })
    return this.#running
  }

  async #start(): Promise<Running> {
    const { verify, start, message, onChanged } = this.#options
    await verify()
    const program = await start()
    let [errors, blocked] = ['', '']
    const calls = new HostCalls(this.#options)
    const channel = new Channel({
      write: (line) => void program.stdin.write(line),
      isTooDeep: isValueTooDeep,
      serve: (method, params, { signal }) => calls.serve(method, params, signal),
      onNotice: (method, params) => {
        if (method === 'pong') this.#heardMs = this.#options.clock.now()
        else if (method === 'changed') onChanged?.(String((params as { name?: unknown }).name))
        else calls.take(method, params)
      },
    })
    program.stdin.on('error', () => undefined)
    program.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS)
    })
    readLines(
      program,
      (line) => channel.take(line),
      () => {
        blocked = `it sent a message of more than ${MOST_BYTES / 1024 / 1024} MB`
        void program.kill()
      },
    )
    void program.ended.then(({ exitCode, signal }) => {
      const last =
        errors
          .trim()
          .split('\n')
          .findLast((line) => /error|denied/i.test(line)) ??
        errors.trim().split('\n').at(-1) ??
        ''
      const how = signal === null ? `exit code ${exitCode ?? 'unknown'}` : signal
      const why = blocked !== '' ? blocked : `its process ended (${how})${last === '' ? '' : `: ${shortened(last)}`}`
      this.#lost({ program, channel }, this.#failure('plugins.ended', why))
    })
    try {
      const listing = (await this.#within(channel.call('start', message()))) as PluginListing
      if (this.#isClosed) throw this.#failure('plugins.ended', 'it was closed')
      this.#current = program
      return { program, channel, calls, listing }
    } catch (error) {
      const named = this.#named(error)
      channel.close(named)
      await program.kill()
      throw named
    }
  }

  async #within<Value>(work: Promise<Value>): Promise<Value> {
    const { setUpMs } = this.#limits
    const done = new AbortController()
    const late = this.#options.clock.sleep(setUpMs, done.signal).then(() => {
      throw this.#failure('plugins.timeout', `it was not set up within ${setUpMs / 1_000} s`)
    })
    late.catch(() => undefined)
    return Promise.race([work, late]).finally(() => done.abort())
  }

  /** Looks after a call that is not answered soon, until what it gives back is called. */
  #watchLater(running: Running, call: WatchedCall): () => void {
    let done: AbortController | null = null
    const begin = () => {
      done = new AbortController()
      void this.#watch(running, call, done.signal)
    }
    const timer = setTimeout(begin, Math.min(UNWATCHED_MS, call.timeoutMs))
    return () => {
      clearTimeout(timer)
      done?.abort()
    }
  }

  /** One that takes too long is given up, and a process without a sign of life is ended. */
  async #watch(running: Running, { timeoutMs, isWaiting, late }: WatchedCall, done: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const { blockedMs } = this.#limits
    let usedMs = isWaiting() ? 0 : UNWATCHED_MS
    while (usedMs < timeoutMs) {
      const pingedMs = clock.now()
      running.channel.notify('ping', null)
      const step = Math.min(blockedMs, timeoutMs - usedMs)
      await clock.sleep(step, done).catch(() => undefined)
      if (done.aborted) return
      if (step === blockedMs && this.#heardMs < pingedMs) {
        const why = `it blocked its thread for ${blockedMs / 1_000} s and was ended`
        this.#lost(running, this.#failure('plugins.blocked', why))
        await running.program.kill()
        return
      }
      if (!isWaiting()) usedMs += step
    }
    late(this.#failure('plugins.timeout', `it did not answer within ${timeoutMs / 1_000} s`))
  }

  /** Calls that wait fail at once; the next one finds no process. */
  #lost({ program, channel }: Pick<Running, 'program' | 'channel'>, error: HermesError): void {
    channel.close(error)
    if (this.#current !== program) return
    this.#running = this.#current = null
    this.#options.logger.warn(error.message)
    this.#failed(error.message)
  }

  #failed(why: string): void {
    this.#failures++
    this.#problem = why
  }

  #named(error: unknown): Error {
    if (HermesError.isInstance(error)) return error
    const code = error instanceof RemoteError ? error.code : 'plugins.failed'
    return this.#failure(code, shortened(errorLine(error), 500))
  }

  #failure(code: string, reason: string): HermesError {
    const { name } = this.#options
    return new HermesError(`Plugin ${name}: ${reason.replace(/\.$/, '')}.`, { code, details: { plugin: name } })
  }
}

function readLines({ stdout }: RunningProgram, take: (line: string) => void, tooMuch: () => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MOST_BYTES) {
      rest = ''
      tooMuch()
    }
    for (const line of lines) take(line)
  })
  stdout.on('error', () => undefined)
}
