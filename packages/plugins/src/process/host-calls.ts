// What a plugin asks of Hermes while it is called: permits, files, commands, the network. Each goes past the policy.
import { HermesError, type Logger } from '@hermes/contracts'
import type { Environment, ExecOptions } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { Answer, Notice, Question, ToolContext } from '@hermes/contracts/tool'
import { shortened } from '../package/shortened.js'

/** What Hermes does for plugins. */
export interface HostServices {
  /** The permit for an action that no call of a session is behind; nobody is asked. */
  permit(action: Action): Promise<Permit>
  /** Told why an action was refused. */
  refused(error: unknown): void
  /** A `fetch` to the origin of an address and nowhere else; where the name is public, to no place that is not. */
  fetchTo(address: string): typeof fetch
  readonly logger: Logger
}

/** Who is behind one call of a plugin. What is missing cannot be asked for in it. */
export interface HostCall {
  readonly environment?: Environment | null
  permit?(action: Action, options: { readonly mayAsk?: boolean }): Promise<Permit>
  ask?(question: Question): Promise<Answer>
  readonly progress?: ToolContext['progress']
  notify?(notice: Notice): void
  notice?(text: string, level?: 'info' | 'warning'): void
  write?(text: string): void
  warn?(line: string): void
  /** Called when text of the network came in. */
  onOutside?(): void
}

const MAX_BODY_BYTES = 20_000_000
const MAX_READ_BYTES = 20_000_000
const MAX_PERMITS = 1_000
/** The time that a call of a tool has. */
const MAX_EXEC_MS = 600_000
const MAX_OUTPUT_BYTES = 1_000_000
const MOST_CHOICES = 6

interface Open {
  readonly host: HostCall
  waiting: number
}

/** The calls of one process, and what they were given. */
export class HostCalls {
  readonly #services: HostServices & { readonly name: string }
  readonly #open = new Map<number, Open>()
  readonly #permits = new Map<number, Permit>()
  #lastPermit = 0

  constructor(services: HostServices & { readonly name: string }) {
    this.#services = services
  }

  begin(id: number, host: HostCall): void {
    this.#open.set(id, { host, waiting: 0 })
  }

  end(id: number): void {
    this.#open.delete(id)
  }

  /** Whether the call waits for a person or a command, so that its own time stands still. */
  isWaiting(id: number): boolean {
    return (this.#open.get(id)?.waiting ?? 0) > 0
  }

  serve(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const requested = params as Requested
    const open = this.#open.get(requested.ref ?? -1)
    if (open === undefined) return this.#answer(method, requested, {}, signal)
    open.waiting++
    return this.#answer(method, requested, open.host, signal).finally(() => open.waiting--)
  }

  /** Takes what needs no answer. */
  take(method: string, params: unknown): void {
    const { ref, text = '', level, message = '', about, notice } = (params ?? {}) as Requested & NoticeParams
    const host = this.#open.get(ref ?? -1)?.host
    if (method === 'progress') host?.progress?.(text, about)
    else if (method === 'notify' && notice !== undefined) host?.notify?.(notice)
    else if (method === 'notice') host?.notice?.(text, level === 'info' ? 'info' : 'warning')
    else if (method === 'write') host?.write?.(text)
    else if (method === 'warn') host?.warn?.(text)
    else if (method === 'log') {
      const { logger, name } = this.#services
      const at = level === 'error' || level === 'warn' || level === 'info' ? level : 'debug'
      logger[at](`Plugin ${name}: ${shortened(String(message), 500)}`)
    }
  }

  async #answer(method: string, requested: Requested, host: HostCall, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case 'permit':
        return this.#keep(await this.#permit(host, requested.action!, requested.options ?? {}))
      case 'environment':
        return this.#onEnvironment(requested, host, signal)
      case 'fetch':
        return this.#fetch(requested, host, signal)
      case 'ask':
        if (!host.ask) throw missing('Nobody can be asked here')
        return host.ask(questionOf(this.#services.name, requested.question))
      default:
        throw missing(`There is no call ${shortened(method, 60)}`)
    }
  }

  #permit(host: HostCall, action: Action, { mayAsk }: { readonly mayAsk?: boolean } = {}): Promise<Permit> {
    // By name: a plugin must not say that a person agreed.
    const permit = host.permit?.(action, mayAsk === false ? { mayAsk } : {}) ?? this.#services.permit(action)
    return permit.catch((error: unknown) => {
      this.#services.refused(error)
      throw error
    })
  }

  #keep(permit: Permit): number {
    const id = ++this.#lastPermit
    this.#permits.set(id, permit)
    if (this.#permits.size > MAX_PERMITS) this.#permits.delete(this.#permits.keys().next().value!)
    return id
  }

  #taken(id: number | undefined): Permit {
    const permit = this.#permits.get(id ?? -1)
    if (!permit)
      throw new HermesError('There is no such permit; ask with permit(action) first.', { code: 'policy.no_permit' })
    this.#permits.delete(id!)
    return permit
  }

  async #onEnvironment(requested: Requested, host: HostCall, signal: AbortSignal): Promise<unknown> {
    const { environment } = host
    if (!environment) throw missing('No environment is there for this call')
    const { op, path = '' } = requested
    switch (op) {
      case 'read': {
        const place = await this.#mayRead(environment, host, path)
        const length = Math.min(requested.length ?? MAX_READ_BYTES, MAX_READ_BYTES)
        const bytes = await environment.read(place, { offset: requested.offset ?? 0, length })
        return bytes === null ? null : Buffer.from(bytes).toString('base64')
      }
      case 'list':
        return environment.list(await this.#mayRead(environment, host, path))
      case 'stat':
        return environment.stat(await this.#mayRead(environment, host, path))
      case 'realpath':
        return environment.realpath(environment.resolve(path))
      case 'write':
        return environment.write(
          this.#taken(requested.permit),
          path,
          Buffer.from(requested.bytes ?? '', 'base64'),
          requested.options,
        )
      case 'mkdir':
        return environment.mkdir(this.#taken(requested.permit), path)
      case 'rename':
        return environment.rename(this.#taken(requested.permit), path, requested.to ?? '')
      case 'remove':
        return environment.remove(this.#taken(requested.permit), path)
      case 'exec':
        return environment.exec(this.#taken(requested.permit), requested.command ?? '', {
          ...execOptions(requested.options),
          signal,
        })
      default:
        throw missing(`There is no ${shortened(String(op), 60)} of an environment`)
    }
  }

  async #mayRead(environment: Environment, host: HostCall, path: string): Promise<string> {
    const place = await environment.realpath(environment.resolve(path))
    await this.#permit(host, { type: 'read', path: place, backend: environment.backend })
    return place
  }

  async #fetch(requested: Requested, host: HostCall, signal: AbortSignal): Promise<unknown> {
    const { url = '', method = 'GET', headers = [], body = null } = requested
    if (!URL.canParse(url) || !/^https?:/i.test(url)) throw missing(`${shortened(url)} is no http or https address`)
    const action = { type: 'fetch', url, method } as const
    const permit = await this.#permit(host, action)
    permit.consume(action)
    host.onOutside?.()
    const bytes = body === null ? null : Buffer.from(body, 'base64')
    const init = { method, headers: [...headers], body: bytes, signal }
    const response = await this.#services
      .fetchTo(url)(url, init)
      .catch((error: Error) => {
        throw HermesError.isInstance(error.cause) ? error.cause : error
      })
    return {
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers].filter(([name]) => !/^content-(?:encoding|length)$/i.test(name)),
      body: (await bodyOf(response)).toString('base64'),
    }
  }
}

/**
 * What a plugin may say of how a command runs. The permit is for the command, its folder and where it runs; variables, input and passwords would
 * change what the command does without anybody having judged them.
 * @throws HermesError `plugins.bad_option` for anything else, which would have no effect.
 */
function execOptions(options: object = {}): ExecOptions {
  const { cwd, timeoutMs, maxOutputBytes, ...more } = options as ExecOptions
  const [other] = Object.keys(more)
  if (other !== undefined)
    throw new HermesError(
      `A command of a plugin takes cwd, timeoutMs and maxOutputBytes, not ${shortened(other, 60)}. Write what it needs into the command.`,
      { code: 'plugins.bad_option' },
    )
  return {
    ...(typeof cwd === 'string' ? { cwd } : {}),
    ...(typeof timeoutMs === 'number' && timeoutMs > 0 ? { timeoutMs: Math.min(timeoutMs, MAX_EXEC_MS) } : {}),
    ...(typeof maxOutputBytes === 'number' && maxOutputBytes > 0
      ? { maxOutputBytes: Math.min(maxOutputBytes, MAX_OUTPUT_BYTES) }
      : {}),
  }
}

/** Whatever the plugin sent, a question, and whose it is. */
function questionOf(name: string, { question, choices, allowFreeText, isSecret }: Partial<Question> = {}): Question {
  return {
    question: `The plugin ${name} wants to know: ${String(question)}`,
    choices: Array.isArray(choices) ? choices.slice(0, MOST_CHOICES).map(String) : [],
    allowFreeText: allowFreeText !== false || !Array.isArray(choices) || choices.length === 0,
    ...(isSecret === true ? { isSecret } : {}),
  }
}

async function bodyOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw missing(`The answer has more than ${MAX_BODY_BYTES / 1_000_000} MB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const missing = (message: string) => new HermesError(`${message}.`, { code: 'plugins.not_there' })

/** What a call of a plugin says, by the kind of call. */
interface Requested {
  readonly ref?: number | null
  readonly action?: Action
  readonly question?: Question
  readonly op?: string
  readonly path?: string
  readonly to?: string
  readonly command?: string
  readonly permit?: number
  readonly offset?: number
  readonly length?: number
  readonly bytes?: string
  readonly options?: object
  readonly url?: string
  readonly method?: string
  readonly headers?: readonly [string, string][]
  readonly body?: string | null
}

interface NoticeParams {
  readonly text?: string
  readonly level?: string
  readonly message?: string
  readonly about?: Parameters<ToolContext['progress']>[1]
  readonly notice?: Notice
}
