import { defaultHome, loadConfig } from '@hermes/config'
import type { JsonObject } from '@hermes/contracts'
import type { Subcommand } from '@hermes/contracts/extension'
import type { JsonSchema } from '@hermes/contracts/tool'
import { toolParameters } from '@hermes/registry'
import { Command, Option } from 'commander'
import { EXIT, UsageError } from '../errors.js'
import type { Action } from '../io.js'
import { type Io, withoutNotices } from '../io.js'

/**
 * Adds the commands of extensions to the table, after those of Hermes itself, whose names they cannot take. Only a home whose config.yaml names
 * extensions has any, and is opened for that. Rejects where it cannot be opened.
 */
export async function addExtensionCommands(program: Command, choose: (action: Action) => void, io: Io): Promise<void> {
  const { config } = await loadConfig({ home: defaultHome(io), env: io.env })
  if (config.extensions.length === 0) return
  const { openCli } = await import('../open-cli.js')
  const runtime = await openCli(withoutNotices(io), { yolo: false })
  try {
    const taken = program.commands.map((command) => command.name())
    for (const { item } of runtime.extensions.list('subcommand'))
      if (!taken.includes(item.name)) program.addCommand(toCommand(item, choose).copyInheritedSettings(program))
  } finally {
    await runtime.close()
  }
}

function toCommand({ name, summary, words, options }: Subcommand, choose: (action: Action) => void): Command {
  const command = new Command(name).description(summary).exitOverride()
  if (words !== undefined) command.argument('[words...]', words)
  const properties = (options?.['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
  for (const [key, property] of Object.entries(properties)) command.addOption(toOption(key, property))
  return command.action((...values: readonly unknown[]) => {
    const listed = words === undefined ? [] : (values[0] as readonly string[])
    choose((io) => runSubcommand(io, name, { words: listed, options: command.opts() as JsonObject }))
  })
}

function toOption(key: string, { type, description, enum: choices }: JsonSchema): Option {
  const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const value = type === 'boolean' ? '' : type === 'array' ? ' <value...>' : ' <value>'
  const option = new Option(`${flag}${value}`, typeof description === 'string' ? description : '')
  return Array.isArray(choices) ? option.choices(choices.map(String)) : option
}

/** Opens the home again, as any command does, and runs the handler while it is open. */
async function runSubcommand(
  io: Io,
  name: string,
  line: { readonly words: readonly string[]; readonly options: JsonObject },
): Promise<number> {
  const { openCli } = await import('../open-cli.js')
  const runtime = await openCli(io, { yolo: false })
  const interrupted = new AbortController()
  const unsubscribe = io.onInterrupt(() => {
    interrupted.abort(new DOMException('interrupted', 'AbortError'))
    return true
  })
  try {
    const { item } = runtime.extensions.list('subcommand').find((one) => one.item.name === name)!
    const checked = await toolParameters(item.options ?? { type: 'object' }).check(line.options)
    if (checked.type === 'invalid') throw new UsageError(`${name}: ${checked.message.replace(/\s+/g, ' ')}`)
    const handler = await item.load()
    const exitCode = await handler(checked.args as JsonObject, {
      words: line.words,
      home: defaultHome(io),
      cwd: io.cwd,
      write: (text) => void io.stdout.write(text),
      warn: (text) => void io.stderr.write(`hermes: ${text}\n`),
      signal: interrupted.signal,
    })
    return exitCode ?? EXIT.ok
  } finally {
    unsubscribe()
    await runtime.close()
  }
}
