import { HermesError, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { Command, CommandForm } from '@hermes/contracts/extension'
import { toolParameters } from '@hermes/registry'

/** What the words after a command came to: arguments that fit its schema, or a question for those that are missing. */
type ReadArguments =
  | { readonly type: 'arguments'; readonly args: JsonObject }
  | { readonly type: 'missing'; readonly form: CommandForm }

/** One parameter of a command. */
interface Parameter {
  readonly name: string
  readonly schema: JsonObject
  readonly isRequired: boolean
}

/**
 * Reads what was typed after the name of a command.
 * @throws HermesError `command.bad_arguments`: what was wrong and how it is called.
 */
export async function readArguments(command: Command, text: string): Promise<ReadArguments> {
  const args = split(command, text)
  const missing = parametersOf(command).filter(({ name, isRequired }) => isRequired && !Object.hasOwn(args, name))
  if (missing.length > 0) return { type: 'missing', form: formOf(command, text, missing) }
  return { type: 'arguments', args: await checkArguments(command, args) }
}

/**
 * The arguments with what the schema has a default for filled in.
 * @throws HermesError `command.bad_arguments` where they do not fit.
 */
export async function checkArguments(command: Command, args: JsonObject): Promise<JsonObject> {
  if (!command.parameters) return args
  const checked = await toolParameters(command.parameters).check(args)
  if (checked.type === 'valid') return checked.args as JsonObject
  const wrong = parametersOf(command).find(({ name }) => checked.message.startsWith(`${name} `))
  const values = wrong ? valuesOf(wrong.schema) : []
  const wanted = values.length > 0 ? `one of ${values.join(', ')}` : wrong?.schema['description']
  throw badArguments(command, wanted === undefined ? checked.message : `It takes ${String(wanted)}`)
}

/** What follows the name, as lists show it; empty for nothing. */
export function usageOf(command: Command): string {
  if (command.usage !== undefined) return command.usage
  const words = parametersOf(command).map(({ name, schema, isRequired }) => {
    const values = valuesOf(schema)
    const word = isSwitch(schema) ? switchOf(name) : values.length > 0 ? values.join('|') : name.toUpperCase()
    return isRequired ? word : `[${word}]`
  })
  return words.join(' ')
}

/** Whether a command can be called with nothing after its name. */
export function isComplete(command: Command): boolean {
  return parametersOf(command).every(({ isRequired }) => !isRequired)
}

/** The parameters that are words, in their order; switches are not among them. */
export function wordsOf(command: Command): readonly Parameter[] {
  return parametersOf(command).filter(({ schema }) => !isSwitch(schema))
}

/** The switches of a command, as they are typed. */
export function switchesOf(command: Command): readonly string[] {
  return parametersOf(command).flatMap(({ name, schema }) => (isSwitch(schema) ? [switchOf(name)] : []))
}

/** The values that a parameter names. */
export function valuesOf({ enum: values }: JsonObject): readonly string[] {
  return Array.isArray(values) ? values.map(String) : []
}

function split(command: Command, text: string): JsonObject {
  const { args, rest: typed } = takeSwitches(command, text)
  let rest = typed
  const words = wordsOf(command)
  for (const [index, { name, schema }] of words.entries()) {
    if (rest === '') break
    const takesRest = index === words.length - 1 && schema['type'] === 'string' && valuesOf(schema).length === 0
    // Of one value alone quotes are part of it.
    const [typed, double, single] = (words.length > 1 && QUOTED.exec(rest)) || [/^\S+/.exec(rest)![0]]
    const word = double?.replaceAll(/\\(["\\])/g, '$1') ?? single ?? typed
    if (schema['type'] === 'array') [args[name], rest] = [rest.split(/\s+/), '']
    else if (takesRest) [args[name], rest] = [typed.length === rest.length ? word : rest, '']
    else [args[name], rest] = [word, rest.slice(typed.length).trimStart()]
  }
  if (rest !== '') throw badArguments(command, `It does not take “${rest.slice(0, SHOWN_CHARS)}”`)
  return args
}

const SHOWN_CHARS = 40
/** A value with blanks, before the next one. */
const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?=\s|$)/

/** Switches may stand anywhere; what only looks like one is text. */
function takeSwitches(
  command: Command,
  text: string,
): { readonly args: Record<string, JsonValue>; readonly rest: string } {
  const args: Record<string, JsonValue> = {}
  const names = new Map(
    parametersOf(command).flatMap(({ name, schema }) => (isSwitch(schema) ? [[switchOf(name), name] as const] : [])),
  )
  if (names.size === 0) return { args, rest: text.trim() }
  const rest = text.replace(/(?<=^|\s)--[a-z][a-z-]*(?=\s|$)/g, (typed) => {
    const name = names.get(typed)
    if (name !== undefined) args[name] = true
    return name === undefined ? typed : ''
  })
  return { args, rest: rest.trim() }
}

function parametersOf({ parameters }: Command): readonly Parameter[] {
  const properties = parameters?.['properties']
  if (!isJsonObject(properties)) return []
  const required = parameters?.['required']
  return Object.entries(properties).flatMap(([name, schema]) =>
    isJsonObject(schema) ? [{ name, schema, isRequired: Array.isArray(required) && required.includes(name) }] : [],
  )
}

function isSwitch(schema: JsonObject): boolean {
  return schema['type'] === 'boolean'
}

function switchOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function formOf(command: Command, text: string, missing: readonly Parameter[]): CommandForm {
  return {
    type: 'form',
    title: `It needs ${missing.map(({ name }) => name.toUpperCase()).join(' and ')}: ${shownCommand(command)}`,
    line: `/${command.name} ${text.trim()}`.trim(),
    fields: missing.map(({ name, schema }) => ({ name, description: String(schema['description'] ?? name) })),
  }
}

/** A command as it is typed, for lists and messages. */
export function shownCommand(command: Command): string {
  return `/${command.name} ${usageOf(command)}`.trim()
}

function badArguments(command: Command, problem: string): HermesError {
  return new HermesError(`${problem}: ${shownCommand(command)}`, { code: 'command.bad_arguments' })
}
