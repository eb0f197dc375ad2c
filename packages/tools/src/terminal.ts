import type { Clock } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import type { BackgroundProcess, ExecResult } from '@hermes/contracts/environment'
import type { Action } from '@hermes/contracts/policy'
import type { ToolContext, ToolPlanContext, ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import { looksAlone, MAX_COMMAND_CHARS, onlyLooks } from '@hermes/safety'
import { cleanOutput, watchLaterFiles } from '@hermes/sandbox'
import type { FromSchema } from 'json-schema-to-ts'
import { failure } from './result-text.js'
import type { ToolSettings } from './settings.js'
import { defaultToolSettings } from './settings.js'
import { commandSources, followSources, isolationNote, networkOf, runsOutside } from './terminal/outside.js'
import { markSeen, noteSources, notifyOnExit, notifyOnMatch } from './terminal/process-notices.js'
import { NO_PTY, report } from './terminal/report.js'
import { endlessPart } from './terminal/servers.js'
import type { SudoPassword } from './terminal/sudo.js'
import { forgetWhenRefused, sudoOutcome, sudoPassword } from './terminal/sudo.js'

const parameters = {
  type: 'object',
  properties: {
    command: { type: 'string' },
    background: { type: 'boolean', default: false },
    timeout: { type: 'number', exclusiveMinimum: 0, description: 'Seconds; default 180, max 600' },
    workdir: { type: 'string' },
    notify_on_complete: { type: 'boolean' },
    watch_patterns: {
      type: 'array',
      items: { type: 'string' },
      description: 'Report lines with these; rare ones',
    },
    pty: { type: 'boolean' },
    outside: { type: 'boolean', description: 'Outside isolation; asks user' },
  },
  required: ['command'],
} as const

type Args = FromSchema<typeof parameters>

/** Runs a shell command. */
export const createTerminalTool = (settings: ToolSettings = defaultToolSettings) =>
  defineTool<Args>({
    name: 'terminal',
    toolset: 'terminal',
    description:
      'Run a shell command; working directory and exported variables persist. Not for files: use read_file, search_files, write_file, patch. What does not end by itself: background=true, then process. No input: pass flags like -y.',
    parameters,
    external: true,
    sources: commandSources,
    concurrency: (args) => (isPlain(args) && looksAlone(args.command) ? 'parallel' : 'exclusive'),
    onlyLooks: (args) => isPlain(args) && onlyLooks(args.command),
    icon: '💻',
    actions: (args, context) => [spawnAction(args, context)],
    summarize: (args) => args.command,
    execute: (args, context) => (args.background ? start(args, context, settings) : run(args, context, settings)),
  })

/** Nothing is asked for but to run the command and to say what came of it. */
const isPlain = (args: Args): boolean => !args.background && !args.pty && !args.outside && !wantsNotices(args)

function spawnAction(args: Args, context: Pick<ToolPlanContext, 'environment' | 'isTainted'>): Action {
  const { environment } = context
  const cwd = args.workdir === undefined ? environment.cwd() : environment.resolve(args.workdir)
  const outside = runsOutside(args, environment) ? ({ outside: true } as const) : {}
  const network = networkOf(args, context)
  return { type: 'spawn', command: args.command, cwd, backend: environment.backend, ...outside, ...network }
}

/** What makes a call pointless before anything runs; `null` when nothing does. */
async function refuse(args: Args, { environment }: ToolContext): Promise<string | null> {
  if (args.command.trim() === '') return 'command is blank.'
  if (args.command.length > MAX_COMMAND_CHARS)
    return `command has ${args.command.length} characters, and a shell takes ${MAX_COMMAND_CHARS} at most; write the text into a file and use that.`
  if (args.workdir === undefined) return null
  const stat = await environment.stat(environment.resolve(args.workdir))
  return stat?.type === 'directory' ? null : `workdir ${environment.resolve(args.workdir)} is not a directory.`
}

const wantsNotices = (args: Args): boolean =>
  args.notify_on_complete === true || (args.watch_patterns?.some((pattern) => pattern !== '') ?? false)

async function start(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const { environment } = context
  if (!environment.capabilities.background) return failure('This backend cannot run background processes.')
  const refusal = await refuse(args, context)
  if (refusal) return failure(refusal)
  const detached = detachment(args.command)
  if (detached) return failure(`Leave ${detached} out: background=true keeps the command running already.`)
  if (wantsNotices(args) && !context.notify)
    return failure(
      'notify_on_complete and watch_patterns cannot work here: nothing reaches you between your calls. Start it without them and look with process (poll, wait).',
    )
  const password = await sudoPassword({ ...args, outside: runsOutside(args, environment) }, context, settings.sudo)
  const later = watchLaterFiles(args.command, context, {
    outside: runsOutside(args, environment),
    workdir: args.workdir,
  })
  const { process, note } = await spawn(args, context, password)
  if (password) forgetWhenRefused(process, password, context)
  const { id, pid } = process.info()
  noteSources(context.state, id, commandSources(args, context))
  const watchNote = watch(process, args, context, settings)
  const lines = [`Started in the background: session_id ${id}, pid ${pid}.`, watchNote, note]
  const notes = [...withheldNotes(args.command, context), ...(await later.settle())]
  const text = [...lines, ...notes].filter(Boolean).join(' ')
  return { text, data: { session_id: id, pid, ...(note ? { note } : {}) } }
}

/** Starts the process, on a pseudo-terminal where one is wanted and there is one; the note says when there is none. */
async function spawn(
  args: Args,
  context: ToolContext,
  password: SudoPassword | null,
): Promise<{ readonly process: BackgroundProcess; readonly note: string }> {
  const { environment } = context
  const cwd = args.workdir === undefined ? {} : { cwd: environment.resolve(args.workdir) }
  const sudo = password ? { sudoPassword: password.text } : {}
  const options = { ...cwd, ...sudo, outside: runsOutside(args, environment), ...networkOf(args, context) }
  const start = async (pty: boolean) =>
    environment.spawn(await context.permit(spawnAction(args, context)), args.command, { ...options, pty })
  if (args.pty && environment.capabilities.pty) {
    try {
      return { process: await start(true), note: '' }
    } catch (error) {
      if (!HermesError.isInstance(error) || error.code !== 'environment.no_pty') throw error
    }
  }
  return { process: await start(false), note: args.pty ? NO_PTY : '' }
}

/** Sees to it that the agent is told; says what it will be told of. */
function watch(process: BackgroundProcess, args: Args, { notify, state }: ToolContext, settings: ToolSettings): string {
  const manage = 'Use process to poll, wait for, read or kill it.'
  if (!notify || !wantsNotices(args))
    return notify ? `${manage} You will not be told when it ends; notify_on_complete=true would do that.` : manage
  const patterns = args.watch_patterns?.filter((pattern) => pattern !== '') ?? []
  if (!args.notify_on_complete) {
    notifyOnMatch(process, patterns, { state, notify, clock: settings.clock })
    return 'You will be told of matching lines.'
  }
  notifyOnExit(process, state, notify)
  const dropped = patterns.length > 0 ? ' watch_patterns are left out: notify_on_complete goes first.' : ''
  return `You will be told when it ends; go on with other work.${dropped}`
}

async function run(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const refusal = await refuse(args, context)
  if (refusal) return failure(refusal)
  if (wantsNotices(args)) return failure('notify_on_complete and watch_patterns need background=true.')
  const detached = detachment(args.command)
  if (detached)
    return failure(`${detached} would leave a process behind that nobody watches. Run it with background=true instead.`)
  const endless = args.timeout === undefined ? endlessPart(args.command) : null
  if (endless !== null)
    return failure(
      `"${endless}" does not end by itself. Run it with background=true and look at it with process, or give a timeout (seconds) to have it here for that long.`,
    )
  const timeoutMs = args.timeout === undefined ? settings.terminalTimeoutMs : args.timeout * 1000
  if (timeoutMs > settings.terminalMaxTimeoutMs)
    return failure(
      `timeout is at most ${settings.terminalMaxTimeoutMs / 1000} seconds. For longer work use background=true and process.`,
    )
  if (args.pty && context.environment.capabilities.pty) return runOnPty(args, context, timeoutMs, settings)
  const permit = await context.permit(spawnAction(args, context))
  const outside = runsOutside(args, context.environment)
  const network = networkOf(args, context)
  const password = await sudoPassword({ ...args, outside }, context, settings.sudo)
  const before = context.environment.cwd()
  const sources = commandSources(args, context)
  const followed = await followSources(args, sources, context)
  const progress = createLineProgress(context.progress.bind(context), settings.clock)
  const ended = new AbortController()
  const later = watchLaterFiles(args.command, context, { outside, workdir: args.workdir })
  const result = await context.environment
    .exec(permit, args.command, {
      ...(args.workdir === undefined ? {} : { cwd: context.environment.resolve(args.workdir) }),
      ...(password ? { sudoPassword: password.text } : {}),
      outside,
      throwAway: !outside && looksAlone(args.command),
      ...network,
      timeoutMs,
      maxOutputBytes: settings.outputMaxBytes,
      signal: context.signal,
      onOutput: progress,
      ...yieldTo(context.steered, settings.clock, ended.signal),
    })
    .catch(async (error: unknown) => {
      await later.settle()
      throw error
    })
    .finally(() => ended.abort())
  const laterNotes = await later.settle()
  if (result.process) return yielded(result, sources, context)
  const at = { timeoutMs, before, after: context.environment.cwd() }
  const more = sudoOutcome(args.command, result, password, context)
  const notes = [
    ...laterNotes,
    ...more.notes,
    ...withheldNotes(args.command, context),
    ...(outside ? [] : notesOf(result, args, context)),
  ]
  const printed = report(args, result, { ...at, ...more, notes }, context.environment.capabilities.pty)
  return typeof printed === 'string' ? printed : { ...printed, sources: await followed.settle() }
}

/** A foreground command on a pseudo-terminal: a background process that is waited for. Directory and variables stay as they were. */
async function runOnPty(
  args: Args,
  context: ToolContext,
  timeoutMs: number,
  settings: ToolSettings,
): Promise<ToolResult> {
  const outside = runsOutside(args, context.environment)
  const password = await sudoPassword({ ...args, outside }, context, settings.sudo)
  const later = watchLaterFiles(args.command, context, { outside, workdir: args.workdir })
  const { process, note } = await spawn(args, context, password)
  if (note) process.closeInput()
  const startedAtMs = process.info().startedAtMs
  const ended = await process.wait({ timeoutMs, signal: context.signal }).catch((error: unknown) => {
    if (!context.signal.aborted) throw error
    return null
  })
  if (!ended) await process.kill()
  const { exitCode, signal, endedAtMs } = process.info()
  markSeen(context.state, process.info().id)
  const output = process.output()
  const cwd = context.environment.cwd()
  const result: ExecResult = {
    exitCode,
    signal,
    timedOut: !ended && !context.signal.aborted,
    canceled: !ended && context.signal.aborted,
    durationMs: (endedAtMs ?? startedAtMs) - startedAtMs,
    output: note ? `${output.trimEnd()}\n[${note}]` : output,
    outputBytes: Buffer.byteLength(output),
    fullOutputPath: null,
    cwd,
  }
  const { notes, data } = sudoOutcome(args.command, result, password, context)
  const all = [
    ...(await later.settle()),
    ...notes,
    ...withheldNotes(args.command, context),
    ...(outside ? [] : notesOf(result, args, context)),
  ]
  return report(args, result, { timeoutMs, before: cwd, after: cwd, notes: all, data })
}

function notesOf(result: ExecResult, args: Args, context: ToolContext): readonly string[] {
  const note = isolationNote(result, context.environment, { command: args.command, ...networkOf(args, context) })
  return note === null ? [] : [note]
}

const QUOTED = /'[^']*'|"(?:\\.|[^"\\])*"/g
const TRAILING = /(?:^|[^&|<>\\])&\s*$/
const PROGRAM = /(?:^|[;&|(]|\bthen\b|\bdo\b)\s*(nohup|setsid|disown)\b/

/** What in a command would let a process outlive its call (a trailing `&`, `nohup`, `setsid`, `disown`); `null` when nothing does. */
function detachment(command: string): string | null {
  const bare = command.replace(QUOTED, '""')
  const program = PROGRAM.exec(bare)?.[1]
  if (program) return program
  return TRAILING.test(bare) ? 'the trailing "&"' : null
}

const INTERVAL_MS = 100
const MAX_LINE_CHARS = 200
const MAX_KEPT_CHARS = 4000

/** Takes output as it comes and shows its last line that is not blank, at most ten times a second. */
function createLineProgress(show: (line: string) => void, clock: Clock): (text: string) => void {
  let tail = ''
  let shownAtMs = Number.NEGATIVE_INFINITY
  return (text) => {
    tail = (tail + text).slice(-MAX_KEPT_CHARS)
    const nowMs = clock.now()
    if (nowMs - shownAtMs < INTERVAL_MS) return
    const line = cleanOutput(tail).trimEnd().split('\n').at(-1)!.trim()
    if (line === '') return
    shownAtMs = nowMs
    show(line.slice(0, MAX_LINE_CHARS))
  }
}

const MOST_CHARS = 100_000

/** Says, once for each, which variables a command names that it does not get because they look like credentials. */
function withheldNotes(
  command: string,
  { environment, state }: Pick<ToolContext, 'environment' | 'state'>,
): readonly string[] {
  const { withheld = [] } = environment.capabilities
  if (withheld.length === 0) return []
  const notified = state.scratch('withheld-variables', () => new Set<string>())
  const words = new Set(command.slice(0, MOST_CHARS).match(/\w+/g))
  const named = withheld.filter((name) => words.has(name) && !notified.has(name))
  for (const name of named) notified.add(name)
  return named.map(
    (name) =>
      `[${name} looks like a credential, so commands do not get it. The user can pass it on: terminal.env_passthrough: [${name}] in config.yaml.]`,
  )
}

/** Most commands end in this time, and then their result is there with what the user said. */
const GRACE_MS = 2_000

/** A command stops being waited for soon after `steered` has fired; never when `ended` fires first. */
function yieldTo(
  steered: AbortSignal | undefined,
  clock: Clock,
  ended: AbortSignal,
): { readonly yieldSignal?: AbortSignal } {
  if (steered === undefined) return {}
  const controller = new AbortController()
  const later = () =>
    void clock.sleep(GRACE_MS, ended).then(
      () => controller.abort(),
      () => undefined,
    )
  if (steered.aborted) later()
  else steered.addEventListener('abort', later, { once: true, signal: ended })
  return { yieldSignal: controller.signal }
}

/** A command that is not waited for any more, because the user said something. */
function yielded({ process, output }: ExecResult, sources: readonly TextSource[], context: ToolContext): ToolResult {
  const { state, notify } = context
  const { id, pid } = process!.info()
  noteSources(state, id, sources)
  if (notify) notifyOnExit(process!, state, notify)
  const notice = notify ? 'You will be told when it ends.' : 'Use process to wait for it.'
  const shown = cleanOutput(output).trimEnd()
  const note = `[the user wrote, so the command goes on in the background: session_id ${id}, pid ${pid}. ${notice}]`
  const text = shown === '' ? note : `${shown}\n${note}`
  return { text, data: { output: shown, exit_code: null, session_id: id, pid, yielded: true } }
}
