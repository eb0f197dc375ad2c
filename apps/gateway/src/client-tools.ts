// Tools that a client of the API brings: the model calls them as ours, the answer ends there, and the client's next request has the results.
import { createHash } from 'node:crypto'
import type { JsonObject } from '@hermes/contracts'
import { type Message, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { JsonSchema, Tool, ToolSource } from '@hermes/contracts/tool'

const TOOLSET = 'client'
/** Apart from ours, whatever a client calls its own. */
const PREFIX = 'client__'
const NAME_CHARS = 64
const HASH_CHARS = 8

const NO_CALLS = 'The program you talk through carries out no calls for this answer: answer without its tools.'

/** A tool as a client describes it. */
export interface ClientTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** A call that the client is to carry out, by the name it gave the tool. */
export interface ClientCall {
  readonly id: string
  readonly name: string
  /** JSON. */
  readonly arguments: string
}

/** What a call of the client's came to. */
export interface ClientResult {
  readonly callId: string
  readonly text: string
}

/** The tools a client brought to one session. */
export class ClientTools {
  readonly #byName = new Map<string, Tool>()
  /** What the client calls them. */
  readonly #theirs = new Map<string, string>()
  #results: ReadonlyMap<string, ClientResult> = new Map()
  #open: ClientCall[] = []
  #mayCall = true
  #offered = '[]'
  #changed: () => void = () => undefined
  /** Whether an agent has them; one that was made before knows nothing of them. */
  isKnown = false

  /** What the agent of the session is made with. */
  readonly source: ToolSource = {
    name: TOOLSET,
    description: 'Tools of the program you talk through, which carries them out.',
    // Whoever has the key writes the system message too.
    trusted: true,
    list: () => {
      this.isKnown = true
      return [...this.#byName.values()]
    },
    onChange: (changed) => {
      this.#changed = changed
      return () => {
        this.#changed = () => undefined
      }
    },
  }

  /** Has these tools from now on. A request without tools leaves them as they are: their results may still come. */
  offer(tools: readonly ClientTool[]): void {
    const offered = JSON.stringify(tools)
    if (tools.length === 0 || offered === this.#offered) return
    this.#offered = offered
    this.#byName.clear()
    this.#theirs.clear()
    for (const tool of tools) {
      const name = ownName(tool.name)
      this.#theirs.set(name, tool.name)
      this.#byName.set(name, this.#toolOf(name, tool))
    }
    this.#changed()
  }

  /** The next run has these results, which its open calls wait for: ids that a later call may bear again stand for no other one. */
  begin(results: readonly ClientResult[], { mayCall }: { readonly mayCall: boolean } = { mayCall: true }): void {
    this.#mayCall = mayCall
    this.#results = new Map(results.map((result) => [result.callId, result]))
    this.#open = []
  }

  has(toolName: string): boolean {
    return this.#theirs.has(toolName)
  }

  /** What the client calls a tool; `undefined` for one that it did not bring. */
  nameOf(toolName: string): string | undefined {
    return this.#theirs.get(toolName)
  }

  /** What the run that has just parked waits for. */
  get open(): readonly ClientCall[] {
    return this.#open
  }

  #toolOf(name: string, { name: theirs, description, parameters }: ClientTool): Tool<JsonObject> {
    const source = { type: 'server', name: `the client's tool ${theirs}` } as const
    return {
      name,
      toolset: TOOLSET,
      description,
      parameters,
      // What it changes it changes at the client, who knows whether a call was made before.
      effect: 'read',
      concurrency: 'parallel',
      external: true,
      sources: () => [source],
      summarize: () => theirs,
      execute: (args, { callId, park }) => {
        const result = this.#results.get(callId)
        if (result) return result.text === '' ? '(The tool gave no text.)' : result.text
        if (!this.#mayCall) return { text: NO_CALLS, isError: true }
        if (!park) return { text: 'Call this tool by itself: programs cannot call it.', isError: true }
        this.#open.push({ id: callId, name: theirs, arguments: JSON.stringify(args) })
        return park()
      },
    }
  }
}

/** The calls in an answer that the client was to carry out. `results`: the messages of tools. */
export function clientCallsIn(message: Message, results: readonly Message[], tools: ClientTools | null): ClientCall[] {
  const refused = results.flatMap((result) =>
    result.role === 'tool' && messageText(result).startsWith(NO_CALLS) ? [result.callId] : [],
  )
  const calls = toolCalls(message).filter(({ id, name }) => name.startsWith(PREFIX) && !refused.includes(id))
  return calls.map(({ id, name, args, rawArgs }) => ({
    id,
    name: tools?.nameOf(name) ?? name.slice(PREFIX.length),
    arguments: args === null ? rawArgs : JSON.stringify(args),
  }))
}

/** Stable, so that the definitions a session was begun with stay those of its tools. */
export function ownName(name: string): string {
  const whole = `${PREFIX}${name}`
  if (whole.length <= NAME_CHARS) return whole
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  return `${whole.slice(0, NAME_CHARS - HASH_CHARS - 1)}_${hash}`
}

/** How long the tools of a session are kept that no agent has: longer than one takes to be made. */
const KEPT_MS = 600_000

/** The tools of all sessions whose clients bring some. */
export class SessionTools {
  readonly #bySession = new Map<string, { readonly tools: ClientTools; usedAtMs: number }>()
  readonly #isOpen: (sessionId: string) => boolean

  /** `isOpen`: whether an agent has the session; those of others are forgotten in time. */
  constructor(isOpen: (sessionId: string) => boolean) {
    this.#isOpen = isOpen
  }

  /** `null` for a session to which no client has brought tools, `tools` included. */
  of(sessionId: string, tools: readonly ClientTool[]): ClientTools | null {
    const usedAtMs = performance.now()
    const known = this.#bySession.get(sessionId)
    if (known) {
      known.usedAtMs = usedAtMs
      return known.tools
    }
    if (tools.length === 0) return null
    for (const [id, { usedAtMs: before }] of this.#bySession)
      if (usedAtMs - before > KEPT_MS && !this.#isOpen(id)) this.#bySession.delete(id)
    const made = new ClientTools()
    this.#bySession.set(sessionId, { tools: made, usedAtMs })
    return made
  }
}
