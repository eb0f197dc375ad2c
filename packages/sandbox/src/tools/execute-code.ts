import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { CodeHost } from '../execute-code/code-host.js'
import { type CodeRequest, codeAction } from '../execute-code/code-request.js'
import type { CodeResult } from '../execute-code/code-result.js'
import { scriptToolNames } from '../execute-code/script-tools.js'

const parameters = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    language: { type: 'string', enum: ['python', 'javascript'], default: 'python' },
    keep: {
      type: 'boolean',
      description: 'Run in an interpreter that stays, with the variables of earlier kept programs',
    },
    reset: { type: 'boolean', description: 'Start with a fresh one' },
  },
  required: ['code'],
} as const

type Args = FromSchema<typeof parameters>

/** What the tools of this package need. */
export interface SandboxToolServices {
  /** Opened with the first program; `null` where none may run. */
  readonly code: (() => Promise<CodeHost>) | null
}

/** Runs a program that calls tools, so that what it does not print costs no context. */
export const createExecuteCodeTool = ({ code }: SandboxToolServices) =>
  defineTool<Args>({
    name: 'execute_code',
    toolset: 'code_execution',
    description: describe([]),
    describe,
    parameters,
    available: () => code !== null && process.platform !== 'win32',
    concurrency: 'exclusive',
    refundsTurn: true,
    icon: '🧬',
    summarize: ({ code: text, language }) => `${language}: ${text.trim().split('\n')[0]}`,
    async execute(args, context) {
      if (code === null || process.platform === 'win32')
        return failure('execute_code is not available here. Use normal tool calls instead.')
      if (!context.tools) return failure('A program cannot run programs. Call the function in the same one.')
      if (args.code.trim() === '' && !args.reset) return failure('code is empty.')
      const host = await code()
      const where = { language: args.language, code: args.code, cwd: workingFolder(context, host) }
      const permit = await context.permit(codeAction(where))
      const { tools, sessionId, signal } = context
      const request: CodeRequest = {
        ...where,
        tools,
        sessionId,
        signal,
        progress: (text) => context.progress(text),
        keep: args.keep ?? false,
        reset: args.reset ?? false,
      }
      return render(await host.run(permit, request))
    },
  })

function describe(names: readonly string[]): string {
  const tools = scriptToolNames(names)
  const list = tools.length === 0 ? 'the tools of this session' : tools.join(', ')
  return `Run a program that calls tools; only what it prints comes back. For three or more calls with logic between them, loops over files or pages, and cutting large results down before you read them. Not for a single call, or where you must judge a full result yourself.
Python: \`from hermes_tools import ${tools[0] ?? 'read_file'}\`. JavaScript: the same with \`import { … }\`, ES module, \`await\` each call.
There: ${list}. Parameters as you know them; results are dicts (read_file: content without line numbers; terminal: output, exit_code), {"error": …} on failure. Calls may run side by side in threads or promises. Use them for files and commands, the standard library for the rest. 120 s, 50 calls, 50 KB of output.`
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

function render(result: CodeResult): ToolResult {
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
  const facts = [status, `${toolCallsMade} tool calls`, `${seconds.toFixed(1)} s`]
  const lines = [
    output.trimEnd(),
    errors.trimEnd(),
    ...(fullOutputPath === null ? [] : [`[all of the output: ${fullOutputPath}]`]),
    `[${facts.join(' · ')}]${note === null ? '' : ` ${note}`}`,
  ]
  const text = lines.filter((line) => line !== '').join('\n')
  return { data, text, isError: status !== 'success', external: result.isTainted }
}

function failure(text: string): ToolResult {
  return { isError: true, text }
}
