import { randomUUID } from 'node:crypto'
import { errorLine, type JsonObject } from '@hermes/contracts'
import type { Question } from '@hermes/contracts/tool'
import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { OpenQuestion, RunOutcome, ServedHome, ServedRun } from './served-home.js'
import { skillsExtension } from './served-skills.js'

const MOST_LISTED = 100
const MOST_READ = 200
const MOST_CHARS = 200_000
/** Rounds of questions in one call. */
const MOST_ROUNDS = 100
/** How long a client has for a question. */
const ANSWER_WITHIN_MS = 600_000
const ANSWER = 'answer'

/** Options of {@link createHomeServer}. */
export interface HomeServerOptions {
  readonly home: ServedHome
  readonly version: string
  /** Runs that wait for answers, of all clients of a process. */
  readonly waiting: WaitingRuns
}

/** Runs whose question went to a client; they go on with its answer. */
export class WaitingRuns {
  readonly #runs = new Map<
    string,
    { readonly run: ServedRun; readonly question: OpenQuestion; readonly stop: () => void }
  >()

  /** Ends the runs whose client does not come back in time. */
  keep(run: ServedRun, question: OpenQuestion): string {
    const id = randomUUID()
    const late = setTimeout(() => {
      this.#runs.delete(id)
      question.answer(null)
      run.stop()
    }, ANSWER_WITHIN_MS).unref()
    this.#runs.set(id, { run, question, stop: () => clearTimeout(late) })
    return id
  }

  take(id: string): { readonly run: ServedRun; readonly question: OpenQuestion } | null {
    const waiting = this.#runs.get(id) ?? null
    this.#runs.delete(id)
    waiting?.stop()
    return waiting
  }
}

/** A server of one connection: sessions, memory, skills and the agent of a home, in the protocol that the client speaks. */
export async function createHomeServer({ home, version, waiting }: HomeServerOptions): Promise<McpServer> {
  const sdk = await import('@modelcontextprotocol/server')
  const server = new sdk.McpServer(
    { name: 'hermes', title: 'Hermes', version },
    { inputRequired: { maxRounds: MOST_ROUNDS, roundTimeoutMs: ANSWER_WITHIN_MS } },
  )
  const add = (
    name: string,
    { description, properties, required = [], readOnly = true }: ToolWords,
    run: (args: JsonObject, context: ServerContext) => Promise<CallToolResult | InputRequiredResult>,
  ) => {
    const schema = { type: 'object', properties, required, additionalProperties: false } as const
    const annotations = { readOnlyHint: readOnly, openWorldHint: !readOnly }
    const config = { description, inputSchema: sdk.fromJsonSchema<JsonObject>(schema as never), annotations }
    server.registerTool(name, config, async (args: JsonObject, context: ServerContext) => {
      try {
        return (await run(args, context)) as CallToolResult
      } catch (error) {
        return { content: [{ type: 'text', text: errorLine(error) }], isError: true }
      }
    })
  }
  const limit = (most: number) => ({ type: 'integer', minimum: 1, maximum: most })
  add(
    'sessions_list',
    {
      description: 'Lists conversations of this Hermes, the newest first.',
      properties: { limit: limit(MOST_LISTED), offset: { type: 'integer', minimum: 0 } },
    },
    async (args) =>
      data({ sessions: await home.list({ limit: int(args, 'limit', 20), offset: int(args, 'offset', 0) }) }),
  )
  add(
    'sessions_search',
    {
      description: 'Finds messages in all conversations by their words.',
      properties: { query: { type: 'string', minLength: 1, maxLength: 1_000 }, limit: limit(MOST_LISTED) },
      required: ['query'],
    },
    async (args) => data({ messages: await home.search(String(args['query']), { limit: int(args, 'limit', 10) }) }),
  )
  add(
    'sessions_read',
    {
      description: 'Reads the messages of a conversation in their order, those after `after`.',
      properties: {
        session: { type: 'string', description: 'an id, as lists and searches give it' },
        after: { type: 'integer', minimum: -1, description: 'seq of the last message you have' },
        limit: limit(MOST_READ),
      },
      required: ['session'],
    },
    async (args) => {
      const session = String(args['session'])
      const read = await home.read(session, { after: int(args, 'after', -1), limit: int(args, 'limit', 50) })
      return read ? data({ messages: read }) : failure(`There is no session "${session}".`)
    },
  )
  add('memory_read', { description: 'What Hermes keeps in mind across conversations.', properties: {} }, async () =>
    data({ memory: await home.memory() }),
  )
  add(
    'run_agent',
    {
      description:
        'Gives the agent a task, in a new conversation or in `session`, and waits for its answer. It may ask.',
      properties: { prompt: { type: 'string', minLength: 1 }, session: { type: 'string' } },
      required: ['prompt'],
      readOnly: false,
    },
    (args, context) => runAgent(sdk, { home, waiting }, args, context),
  )
  const skills = await skillsExtension(home.skills)
  skills.attach(server)
  return server
}

interface ToolWords {
  readonly description: string
  readonly properties: object
  readonly required?: readonly string[]
  readonly readOnly?: boolean
}

async function runAgent(
  sdk: typeof import('@modelcontextprotocol/server'),
  { home, waiting }: Pick<HomeServerOptions, 'home' | 'waiting'>,
  args: JsonObject,
  { mcpReq }: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const state = mcpReq.requestState()
  const known = typeof state === 'string' ? waiting.take(state) : null
  if (typeof state === 'string' && !known) return failure('The question was answered already, or too late.')
  known?.question.answer(answerIn(sdk, known.question.question, mcpReq.inputResponses))
  const { session } = args
  const request = { prompt: String(args['prompt']), ...(typeof session === 'string' ? { session } : {}) }
  const run = known?.run ?? (await home.run(request))
  const next = await nextToShow(run, { progress: progressOf({ mcpReq }), signal: mcpReq.signal })
  if ('question' in next)
    return sdk.inputRequired({
      inputRequests: { [ANSWER]: sdk.inputRequired.elicit(toForm(next.question) as never) },
      requestState: waiting.keep(run, next),
    })
  return toResult(next)
}

/** Secrets are answered with none: forms show what is typed, and a client may keep it or hand it to its model. */
async function nextToShow(run: ServedRun, options: Parameters<ServedRun['next']>[0]): ReturnType<ServedRun['next']> {
  for (;;) {
    const next = await run.next(options)
    if (!('question' in next && next.question.isSecret)) return next
    next.answer(null)
  }
}

function toResult({ session, status, text }: RunOutcome): CallToolResult {
  const shown = text === '' ? `The run ended: ${status}.` : text.slice(0, MOST_CHARS)
  const structuredContent = { session, status, text: shown }
  return {
    content: [{ type: 'text', text: shown }],
    structuredContent,
    ...(status === 'failed' ? { isError: true } : {}),
  }
}

function progressOf({ mcpReq }: Pick<ServerContext, 'mcpReq'>): (line: string) => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let progress = 0
  return (message) => {
    const params = { progressToken, progress: ++progress, message }
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}

function toForm({ question, choices, allowFreeText }: Question): object {
  const field =
    choices.length > 0 && !allowFreeText
      ? { type: 'string', title: 'Answer', enum: [...choices] }
      : { type: 'string', title: 'Answer', ...(choices.length > 0 ? { description: choices.join(' / ') } : {}) }
  return { message: question, requestedSchema: { type: 'object', properties: { [ANSWER]: field }, required: [ANSWER] } }
}

function answerIn(
  sdk: typeof import('@modelcontextprotocol/server'),
  { choices, allowFreeText }: Question,
  responses: ServerContext['mcpReq']['inputResponses'],
): string | null {
  const view = sdk.inputResponse(responses, ANSWER)
  if (view.kind !== 'elicit' || view.action !== 'accept') return null
  const text = view.content?.[ANSWER]
  if (typeof text !== 'string' || text.trim() === '') return null
  return allowFreeText || choices.includes(text) ? text : null
}

function data(value: object): CallToolResult {
  const text = JSON.stringify(value)
  if (text.length > MOST_CHARS) return failure('That is too much at once; ask for fewer with limit.')
  return { content: [{ type: 'text', text }], structuredContent: value as Record<string, unknown> }
}

const failure = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })

function int(args: JsonObject, name: string, standard: number): number {
  const value = args[name]
  return typeof value === 'number' ? value : standard
}
