import type { TextSource } from '@hermes/contracts/conversation'
import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { CodeHost } from '../execute-code/code-host.js'
import { type CodeRequest, codeAction } from '../execute-code/code-request.js'
import type { CodeResult } from '../execute-code/code-result.js'
import { pythonOnPath } from '../execute-code/language.js'
import { scriptToolNames } from '../execute-code/program-calls.js'
import { watchLaterFiles } from '../later-files.js'
import { namedPlaces } from './named-places.js'

const parameters = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    language: { type: 'string', enum: ['python', 'javascript'], default: 'python' },
    keep: {
      type: 'boolean',
      description: 'Keep variables for later ones',
    },
    reset: { type: 'boolean', description: 'Forget them first' },
  },
  required: ['code'],
} as const

type Args = FromSchema<typeof parameters>

/** What the tools of this package need. */
export interface SandboxToolServices {
  /** `null` where no program may run. */
  readonly code: {
    /** What runs programs; made with the first one. */
    open(): Promise<CodeHost>
    /** Default 120,000. */
    readonly timeoutMs?: number
    /** Default 50. */
    readonly maxCalls?: number
    /** The variable PATH of programs, to tell whether there is Python. Default: there is taken to be. */
    readonly path?: string | undefined
  } | null
}

/** Runs a program that calls tools, so that what it does not print costs no context. */
export const createExecuteCodeTool = ({ code: programs }: SandboxToolServices) =>
  defineTool<Args>({
    name: 'execute_code',
    toolset: 'code_execution',
    description: 'Run a program that calls tools; only what it prints comes back.',
    describe: (names) => describe(scriptToolNames(names), programs),
    parameters,
    available: () => programs !== null && process.platform !== 'win32',
    external: true,
    concurrency: 'exclusive',
    refundsStep: true,
    icon: '🧬',
    summarize: ({ code, language }) => `${language}: ${tellingLine(code)}`,
    async execute(args, context) {
      if (programs === null || process.platform === 'win32')
        return failure('execute_code is not available here. Use normal tool calls instead.')
      if (!context.tools) return failure('A program cannot run programs. Call the function in the same one.')
      if (args.code.trim() === '' && !args.reset) return failure('code is empty.')
      const host = await programs.open()
      const where = { language: args.language, code: args.code, cwd: workingFolder(context, host) }
      const permit = await context.permit(codeAction(where))
      const { tools, sessionId, signal } = context
      const request: CodeRequest = {
        ...where,
        tools,
        sessionId,
        signal,
        progress: (text, about) => context.progress(text, about),
        keep: args.keep ?? false,
        reset: args.reset ?? false,
      }
      const later = watchLaterFiles(null, context)
      const places = await namedPlaces(args.code, where.cwd, context)
      const result = await host.run(permit, request)
      const sources = [programSource(where.cwd, context), ...places.sources, ...(result.sources ?? [])]
      if (result.sources) await places.settle(sources)
      return render(result, await later.settle(), result.sources ? sources : null)
    },
  })

function describe(tools: readonly string[], limits: SandboxToolServices['code']): string {
  const { timeoutMs = 120_000, maxCalls = 50, path } = limits ?? {}
  const hasPython = path === undefined || pythonOnPath(path) !== null
  const python = hasPython ? 'Python: `from hermes_tools import NAME`.' : 'No Python here.'
  return `Run a program that calls tools; only what it prints comes back. For three or more calls with logic between, loops, cutting results; not for one call or results to judge.
${python} JavaScript (ESM): \`import { NAME } from 'hermes_tools'\`, await each call. There: ${shortNames(tools).join(', ')}.
Parameters as in the tools; results are dicts (read_file: content as it is; terminal: output, exit_code), {error: text} on failure. Calls may run side by side. Files and commands only through these. ${timeoutMs / 1000} s, ${maxCalls} calls, 50 KB output.`
}

/** Those of the browser as one: there are many, and a model that wants them has looked for them. */
function shortNames(tools: readonly string[]): readonly string[] {
  const isBrowser = (name: string) => name.startsWith('browser_')
  const others = tools.filter((name) => !isBrowser(name))
  return others.length === tools.length ? tools : [...others, 'browser_*']
}

/** Most programs begin with what they import. */
function tellingLine(code: string): string {
  const lines = code.split('\n').filter((line) => line.trim() !== '')
  return (lines.find((line) => !/^\s*(?:import|from|#|\/\/)/.test(line)) ?? lines[0] ?? '').trim()
}

/** Programs run on this machine; where the agent works on another one, its directory means nothing here. */
function workingFolder(context: ToolContext, host: CodeHost): string {
  try {
    const { environment } = context
    return environment.backend === 'local' ? environment.cwd() : host.tempDir
  } catch {
    return host.tempDir
  }
}

function render(result: CodeResult, notes: readonly string[], sources: readonly TextSource[] | null): ToolResult {
  const { status, output, errors, toolCallsMade, durationMs, fullOutputPath, note } = result
  const seconds = durationMs / 1000
  const data = {
    status,
    output,
    errors,
    tool_calls_made: toolCallsMade,
    duration_seconds: seconds,
    ...(fullOutputPath === null ? {} : { full_output_path: fullOutputPath }),
    ...(note === null ? {} : { note }),
  }
  const facts = [status, `${toolCallsMade} tool call${toolCallsMade === 1 ? '' : 's'}`, `${seconds.toFixed(1)} s`]
  const lines = [
    output.trimEnd(),
    errors.trimEnd(),
    ...notes,
    ...(fullOutputPath === null ? [] : [`[all of the output: ${fullOutputPath}]`]),
    `[${facts.join(' · ')}]${note === null ? '' : ` ${note}`}`,
  ]
  const text = lines.filter((line) => line !== '').join('\n')
  return { data, text, isError: status !== 'success', ...(sources ? { sources } : {}) }
}

/** Programs have no network wherever commands may lose it, for they stay. */
function programSource(cwd: string, context: ToolContext): TextSource {
  return { type: 'command', command: 'a program of the agent', cwd, reach: isOffline(context) ? 'machine' : 'network' }
}

function isOffline(context: ToolContext): boolean {
  try {
    const { backend, capabilities } = context.environment
    return backend === 'local' && (capabilities.offline === true || capabilities.asksForNetwork === true)
  } catch {
    return false
  }
}

function failure(text: string): ToolResult {
  return { isError: true, text }
}
