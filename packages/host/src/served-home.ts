import { errorLine, HermesError } from '@hermes/contracts'
import { liveEntries, messageText } from '@hermes/contracts/conversation'
import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'
import type { OpenQuestion, RunOutcome, ServedHome, ServedRun } from '@hermes/mcp/serve'
import type { Runtime } from '@hermes/runtime'
import type { EventReader } from './event-bus.js'
import type { OpenRequest, PermissionMode } from './live-session.js'
import type { SessionHandle, SessionHost } from './session-host.js'

/** Options of {@link createServedHome}. */
interface ServedHomeOptions {
  readonly runtime: Runtime
  readonly host: SessionHost
  /** Where new sessions work. Absolute. */
  readonly cwd: string
  /** Who answers what its runs need leave for. Default `ask`: the client. */
  readonly permissions?: PermissionMode
  /** Which model answers. Default: as config.yaml says. */
  readonly agent?: Pick<OpenRequest, 'model' | 'provider' | 'baseUrl' | 'maxSteps'>
}

const MOST_TEXT_CHARS = 20_000
const SECRET = 'Clients would show what is typed.'
const iso = (atMs: number) => new Date(atMs).toISOString()

/** What clients of the Model Context Protocol may see and do in a home: what its owner may, run by run. */
export function createServedHome({
  runtime,
  host,
  cwd,
  permissions = 'ask',
  agent = {},
}: ServedHomeOptions): ServedHome {
  return {
    list: async (options) => {
      const sessions = await (await runtime.storage()).sessions.list(options)
      return sessions.map(({ id, title, source, preview, messageCount, lastActiveAtMs }) => {
        return { id, title, source, preview, messages: messageCount, lastActiveAt: iso(lastActiveAtMs) }
      })
    },
    search: async (query, options) => {
      const hits = await (await runtime.storage()).search.find(query, options)
      return hits.map(({ sessionId, seq, role, atMs, snippet }) => {
        return { session: sessionId, seq, role, at: iso(atMs), snippet }
      })
    },
    read: async (session, { after, limit }) => {
      const { sessions, log } = await runtime.storage()
      if ((await sessions.get(session)) === null) return null
      const messages = liveEntries(await log.entries(session)).flatMap((entry) => {
        if (entry.type !== 'message' || entry.seq <= after || entry.message.role === 'system') return []
        const text = messageText(entry.message).slice(0, MOST_TEXT_CHARS)
        return text === '' ? [] : [{ seq: entry.seq, role: entry.message.role, text }]
      })
      return messages.slice(0, limit)
    },
    memory: async () => {
      const { memory } = runtime
      const stores = (['memory', 'user'] as const).filter((store) => memory?.isOn(store))
      return Promise.all(
        stores.map(async (store) => ({ store, entries: (await (await memory!.open(store)).read(store)).entries })),
      )
    },
    skills: runtime.skills.served(cwd),
    run: async ({ prompt, session }) => {
      const stored = session === undefined ? null : await (await runtime.storage()).sessions.get(session)
      if (session !== undefined && stored === null)
        throw new HermesError(`There is no session "${session}".`, { code: 'store.unknown_session' })
      const handle = host.open({
        ...agent,
        platform: 'mcp',
        cwd,
        permissions,
        answersQuestions: 'now',
        keepsFolder: true,
        notices: false,
        ...(stored ? { session: stored } : {}),
      })
      return new HostedRun(handle, await handle.subscribe(), prompt)
    },
  }
}

/** One run, watched for what it waits for. */
class HostedRun implements ServedRun {
  readonly #handle: SessionHandle
  readonly #stop = new AbortController()
  readonly #result: Promise<RunOutcome>
  #open: OpenQuestion[] = []
  #wake: () => void = () => undefined
  #progress: (line: string) => void = () => undefined

  constructor(handle: SessionHandle, reader: EventReader, prompt: string) {
    this.#handle = handle
    void this.#watch(reader)
    this.#result = this.#run(prompt).finally(() => {
      void reader.return()
      handle.close()
    })
    // Whoever asks for what is next hears of it.
    this.#result.catch(() => undefined)
  }

  async next({ progress, signal }: Parameters<ServedRun['next']>[0]): Promise<OpenQuestion | RunOutcome> {
    this.#progress = progress
    const stop = () => this.stop()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      const opened = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      if (this.#open.length === 0) await Promise.race([opened, this.#result])
      return this.#open.shift() ?? (await this.#result)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  stop(): void {
    this.#stop.abort()
  }

  async #run(prompt: string): Promise<RunOutcome> {
    try {
      const { status, text, error } = await this.#handle.send(prompt, { signal: this.#stop.signal }).result
      return { session: this.#handle.id, status, text: text === '' ? (error?.message ?? '') : text }
    } catch (error) {
      return { session: this.#handle.id, status: 'failed', text: errorLine(error) }
    }
  }

  async #watch(reader: EventReader): Promise<void> {
    for await (const { event } of reader) {
      switch (event.type) {
        case 'tool-start':
          this.#progress(event.summary === '' ? event.toolName : event.summary)
          break
        case 'tool-progress':
          this.#progress(event.text)
          break
        case 'approval-open':
          this.#put(this.#approval(event.id, event.question))
          break
        case 'question-open': {
          const { id, question } = event
          this.#put({
            question,
            answer: (text) =>
              this.#answer(
                id,
                text === null
                  ? { type: 'unanswered', reason: question.isSecret ? SECRET : 'The client did not answer.' }
                  : { type: 'answered', text },
              ),
          })
          break
        }
        default:
      }
    }
  }

  #approval(id: string, { summary, choices, grant }: ApprovalQuestion): OpenQuestion {
    const lasting = grant !== undefined && choices.includes('always') ? `\n"always" writes the rule: ${grant}` : ''
    return {
      question: { question: `${summary}${lasting}`, choices, allowFreeText: false },
      answer: (text) => this.#answer(id, choices.find((choice) => choice === text) ?? 'deny'),
    }
  }

  #answer(id: string, answer: ApprovalChoice | Parameters<SessionHandle['answer']>[1]): void {
    this.#handle.answer(id, answer, 'mcp').catch(() => undefined)
  }

  #put(question: OpenQuestion): void {
    this.#open.push(question)
    this.#wake()
  }
}
