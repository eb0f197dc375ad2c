import type { Command, CommandContext, CommandOutput, CommandResult, Extension } from '@hermes/contracts/extension'
import { runCommand } from '../run-command.js'
import { parameters, say, sessionOf, text, usageError } from '../session/parameters.js'
import { readLine, unknownLine } from '../typed-line.js'

const TIMEOUT_MS = 30_000
const NAME = /^[a-z][a-z0-9-]*$/

/** A command of one's own, as config.yaml has it. */
interface QuickCommand {
  readonly type: 'exec' | 'alias'
  readonly command?: string | undefined
  readonly target?: string | undefined
  readonly description?: string | undefined
}

/** `quick_commands` of config.yaml: commands that run a program, or stand for another line. No model is asked for them. */
export function quickCommands(
  quick: Readonly<Record<string, QuickCommand | undefined>>,
  warn: (line: string) => void,
): Extension {
  return {
    name: 'quick-commands',
    setup(api) {
      for (const [name, input] of Object.entries(quick)) {
        const command = input && toCommand(name, input)
        if (!command) {
          warn(`quick_commands.${name} is left out: ${whyNot(name)}`)
          continue
        }
        try {
          api.commands.add(command)
        } catch {
          warn(`quick_commands.${name} is left out: /${name} is a command of Hermes.`)
        }
      }
    },
  }
}

function whyNot(name: string): string {
  if (!NAME.test(name)) return 'a name has lower case letters, digits and dashes, a letter first.'
  return '`type: exec` needs `command`, `type: alias` needs `target`.'
}

function toCommand(name: string, { type, command, target, description }: QuickCommand): Command | null {
  if (!NAME.test(name)) return null
  const words = parameters({ words: text('what follows it') })
  if (type === 'exec' && command)
    return {
      name,
      summary: description ?? `run ${command}`,
      duringRun: 'allowed',
      run: (_, context) => exec(command, context),
    }
  if (type === 'alias' && target)
    return {
      name,
      summary: description ?? `the same as ${target}`,
      duringRun: 'allowed',
      parameters: words,
      run: ({ words: more = '' }, context) => alias(`${target} ${more as string}`.trim(), name, context),
    }
  return null
}

/** Nothing of it reaches the model. */
async function exec(command: string, context: CommandContext): Promise<CommandOutput> {
  const limit = AbortSignal.timeout(TIMEOUT_MS)
  const { output, exitCode } = await sessionOf(context).runOwn(command, {
    signal: AbortSignal.any([context.signal, limit]),
  })
  const shown = output.trimEnd()
  if (limit.aborted) return { type: 'text', text: `${shown}\n[stopped after 30 s]`.trim(), isProblem: true }
  const end = exitCode === 0 ? '' : `[exit ${exitCode ?? 'by a signal'}]`
  const lines = [shown, end].filter((line) => line !== '').join('\n')
  return { type: 'text', text: lines === '' ? 'Done, without output.' : lines, isProblem: exitCode !== 0 }
}

/** A line that is no command is a message. */
async function alias(line: string, name: string, context: CommandContext): Promise<CommandResult> {
  const others = context.commands.filter((command) => command.name !== name)
  const parsed = readLine(line, others)
  if (parsed.type === 'command') return runCommand(parsed.command, parsed.args, { ...context, commands: others })
  if (parsed.type === 'unknown') throw usageError(`/${name} stands for ${line}. ${unknownLine(parsed)}`)
  if (!context.caller.changes.includes('send')) return say('Messages cannot be sent from here by a command.')
  return { type: 'change', change: { type: 'send', text: line } }
}
