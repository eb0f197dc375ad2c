import type { BackgroundProcess, ProcessInfo } from '@hermes/contracts/environment'
import type { Action } from '@hermes/contracts/policy'
import type { ToolContext, ToolPlanContext, ToolResult, ToolState } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import { cleanOutput, settleLaterFiles } from '@hermes/sandbox'
import type { FromSchema } from 'json-schema-to-ts'
import { failure, plural } from './result-text.js'
import type { ToolSettings } from './settings.js'
import { defaultToolSettings } from './settings.js'
import { markSeen, processSources } from './terminal/process-notices.js'

const PREVIEW_CHARS = 2000
/** Actions whose answer shows that a process has ended. */
const LOOKS: readonly string[] = ['poll', 'log', 'wait', 'kill']

const parameters = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['list', 'poll', 'log', 'wait', 'kill', 'write', 'submit', 'close'] },
    session_id: { type: 'string' },
    data: { type: 'string' },
    timeout: { type: 'number', exclusiveMinimum: 0, description: 'Seconds; default 180' },
    offset: { type: 'integer', description: 'Of log; default: the last lines' },
    limit: { type: 'integer', default: 200 },
  },
  required: ['action'],
} as const

type Args = FromSchema<typeof parameters>

/** Watches and steers background processes. */
export const createProcessTool = (settings: ToolSettings = defaultToolSettings) =>
  defineTool<Args>({
    name: 'process',
    toolset: 'terminal',
    description:
      'Background processes: list, poll (status, newest output), log (in pages), wait (for the end), kill, write (data), submit (data as a line), close (end of input).',
    parameters,
    external: true,
    sources: ({ action, session_id }, { environment, state }) => {
      const found = action === 'list' ? environment.processes() : [findProcess(environment.processes(), session_id)]
      const ids = found.flatMap((process) => (typeof process === 'string' ? [] : [process.info().id]))
      return processSources(state, ids)
    },
    concurrency: 'exclusive',
    icon: '⚙️',
    actions: inputActions,
    summarize: ({ action, session_id }) => (session_id ? `${action} ${session_id}` : action),
    execute: (args, context) => manage(args, context, settings),
  })

/** The line each process was given the beginning of, so that a command sent in pieces is judged whole. */
const startedLines = (state: ToolState) => state.scratch('process-input', () => new Map<string, string>())

/** What is typed into a shell runs like a command, so input is asked for like one. */
function inputActions(
  args: Args,
  { environment, state }: Pick<ToolPlanContext, 'environment' | 'state'>,
): readonly Action[] {
  if (args.action !== 'write' && args.action !== 'submit') return []
  const found = findProcess(environment.processes(), args.session_id)
  if (typeof found === 'string') return []
  const { id, cwd } = found.info()
  const command = (startedLines(state).get(id) ?? '') + (args.data ?? '')
  return [{ type: 'spawn', command, cwd, backend: environment.backend }]
}

async function manage(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const result = await managed(args, context, settings)
  const notes = await settleLaterFiles(context)
  if (notes.length === 0) return result
  const added = (text: string) => [text, ...notes].join('\n')
  return typeof result === 'string' ? added(result) : { ...result, text: added(result.text ?? '') }
}

async function managed(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const { environment } = context
  if (args.action === 'list') return list(environment.processes(), settings.clock.now())
  const process = findProcess(environment.processes(), args.session_id)
  if (typeof process === 'string') return failure(process)
  const before = process.info()
  const result = await act(args, process, context, settings)
  // What an answer says of the end need not be told again.
  const status =
    (typeof result === 'object' && (result.data as { status?: unknown } | undefined)?.status) || before.status
  if (LOOKS.includes(args.action) && status === 'exited') markSeen(context.state, before.id)
  return result
}

function act(
  args: Args,
  process: BackgroundProcess,
  context: ToolContext,
  settings: ToolSettings,
): ToolResult | Promise<ToolResult> {
  switch (args.action) {
    case 'poll':
      return describe(process, settings.clock.now())
    case 'log':
      return log(process, args)
    case 'wait':
      return wait(process, args, context, settings)
    case 'kill':
      return kill(process, settings.clock.now())
    case 'write':
    case 'submit':
      return input(process, args, context)
    case 'close':
      process.closeInput()
      return {
        text: `The input of ${process.info().id} is closed.`,
        data: { session_id: process.info().id, closed: true },
      }
    case 'list':
      return list([process], settings.clock.now())
    default:
      return args.action satisfies never
  }
}

function list(processes: readonly BackgroundProcess[], nowMs: number): ToolResult {
  const infos = processes.map((process) => process.info())
  const lines = infos.map((info) => `${info.id}  ${status(info, nowMs)}  ${info.command.split('\n', 1)[0]}`)
  const text = lines.length === 0 ? 'There are no background processes.' : lines.join('\n')
  return { text, data: { processes: infos.map((info) => facts(info, nowMs)) } }
}

function facts(info: ProcessInfo, nowMs: number) {
  const uptimeMs = (info.endedAtMs ?? nowMs) - info.startedAtMs
  return {
    session_id: info.id,
    command: info.command,
    cwd: info.cwd,
    pid: info.pid,
    status: info.status,
    exit_code: info.exitCode,
    signal: info.signal,
    uptime_seconds: Math.round(uptimeMs / 1000),
  }
}

function status(info: ProcessInfo, nowMs: number): string {
  const { uptime_seconds: seconds } = facts(info, nowMs)
  if (info.status === 'running') return `running for ${seconds} s, pid ${info.pid}`
  return info.exitCode === null ? `ended by ${info.signal ?? 'a signal'}` : `exited with ${info.exitCode}`
}

function describe(process: BackgroundProcess, nowMs: number, first?: string): ToolResult {
  const info = process.info()
  const all = cleanOutput(process.output()).trimEnd()
  const output = all.slice(-PREVIEW_CHARS).toWellFormed()
  const head = first ?? `${info.id} ${status(info, nowMs)}.`
  const shown = output === '' ? 'No output yet.' : all.length > output.length ? `[…]${output}` : output
  return { text: `${head}\n${shown}`, data: { ...facts(info, nowMs), output } }
}

function log(process: BackgroundProcess, args: Args): ToolResult {
  const lines = cleanOutput(process.output()).trimEnd().split('\n')
  const limit = Math.max(1, args.limit)
  const first = args.offset === undefined ? Math.max(1, lines.length - limit + 1) : Math.max(1, args.offset)
  const shown = lines.slice(first - 1, first - 1 + limit)
  const showing = `lines ${first}-${first + shown.length - 1} of ${lines.length}`
  const { id } = process.info()
  const text =
    shown.length === 0 ? `[${id} has ${plural(lines.length, 'line')}]` : `${shown.join('\n')}\n[${id}: ${showing}]`
  return { text, data: { session_id: id, output: shown.join('\n'), total_lines: lines.length, showing } }
}

async function wait(
  process: BackgroundProcess,
  args: Args,
  context: ToolContext,
  settings: ToolSettings,
): Promise<ToolResult> {
  const requested = args.timeout === undefined ? settings.terminalTimeoutMs : args.timeout * 1000
  const timeoutMs = Math.min(requested, settings.terminalMaxTimeoutMs)
  const info = await process.wait({ timeoutMs, signal: context.signal })
  const nowMs = settings.clock.now()
  if (info) return describe(process, nowMs)
  const { id } = process.info()
  return describe(process, nowMs, `${id} still runs after ${timeoutMs / 1000} s of waiting; it goes on.`)
}

async function kill(process: BackgroundProcess, nowMs: number): Promise<ToolResult> {
  const { id, status: before } = process.info()
  if (before === 'exited') return describe(process, nowMs, `${id} had ended already.`)
  await process.kill()
  return { text: `${id} is killed.`, data: { ...facts(process.info(), nowMs), killed: true } }
}

async function input(process: BackgroundProcess, args: Args, context: ToolContext): Promise<ToolResult> {
  if (args.data === undefined) return failure(`data is missing: the text to ${args.action}.`)
  for (const action of inputActions(args, context)) await context.permit(action)
  const { id, pty } = process.info()
  const text = args.action === 'submit' ? `${args.data}${pty ? '\r' : '\n'}` : args.data
  if (!process.write(text)) return failure(`${id} takes no input any more: it has ended or its input is closed.`)
  const lines = startedLines(context.state)
  lines.set(id, ((lines.get(id) ?? '') + text).split(/[\r\n]/).at(-1)!)
  return {
    text: `Sent ${plural(text.length, 'character')} to ${id}. See the answer with action="poll".`,
    data: { session_id: id, characters: text.length },
  }
}

/** The process whose id is `id` or alone begins with it; otherwise what is wrong. */
function findProcess(processes: readonly BackgroundProcess[], id: string | undefined): BackgroundProcess | string {
  const ids = processes.map((process) => process.info().id)
  const known = ids.length === 0 ? 'There are no background processes.' : `Known: ${ids.join(', ')}.`
  if (id === undefined || id === '') return `session_id is missing. ${known}`
  const exact = processes.find((process) => process.info().id === id)
  const found = exact ? [exact] : processes.filter((process) => process.info().id.startsWith(id))
  if (found.length > 1)
    return `session_id "${id}" is the beginning of several: ${found.map((p) => p.info().id).join(', ')}.`
  return found[0] ?? `There is no background process "${id}". ${known}`
}
