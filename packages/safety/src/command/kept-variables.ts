import type { Action } from '@hermes/contracts/policy'
import type { Word } from '../shell/script.js'
import type { Collected } from './collect.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { printsSettings } from './prints-settings.js'
import { isBeyond, writeTargets } from './write-targets.js'

/** A variable that commands of the same shell find after this one. */
export interface KeptVariable {
  readonly name: string
  /** `null` where it is not known; empty for one that is taken away. */
  readonly value: string | null
}

/** What sets variables by words of its own; in front of a program they are for that one alone. */
const SETS = /^(?:|export|declare|typeset|readonly|local)$/
const FILLS = /^(?:read|mapfile|readarray|getopts|unset)$/
/** Their options whose next word may name no variable. */
const VALUED: Readonly<Record<string, RegExp>> = {
  read: /^-\w*[dinNptu]$/,
  mapfile: /^-\w*[dnOsuc]$/,
  readarray: /^-\w*[dnOsuc]$/,
}
/** A place in a list has the name of the list. */
const NAME = /^(\w+)(?:\[.*)?$/s
/** Arithmetic, and what a variable stands for. */
const INNER = /\(\([^)]*|\$\[[^\]]*|\$\{[^}]*/g
/** An assignment there, to a name that is known only then. */
const UNKNOWN_INNER = /^\$\{!\w+:?=|^(?:\(\(|\$\[).*\$\{?\w+\}?\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)/s
/** One to a name that is written there. */
const INNER_ASSIGNMENT = /([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*(?::|[-+*/%&|^]|<<|>>)?=(?!=)/g

/**
 * The variables that a shell keeps from a command, which is all that it keeps: functions and aliases end with the command that made them.
 * `unknown` where text that is not at hand may set any of them: a file of the workspace that is sourced, an `eval` of what a program prints, or where a
 * name is known only then.
 */
export function keptVariables(invocation: Invocation): readonly KeptVariable[] | 'unknown' {
  const { name, program, args, variables, via } = invocation
  const words = texts(args)
  if (/^(?:source|\.)$/.test(name)) return isUnseenSource(invocation) ? 'unknown' : []
  if (name === 'eval') {
    const isUnseen = args.some(({ text, dynamic }) => dynamic && !printsSettings(text))
    return isUnseen || via !== null ? 'unknown' : []
  }
  // What is set by such a name later is another variable.
  if (SETS.test(name) && name !== 'export' && words.some((word) => /^-[a-zA-Z]*n/.test(word))) return 'unknown'
  const within = [program, ...args, ...variables.map(({ value }) => value)].flatMap(({ text }) =>
    innerParts(name === 'let' ? `((${text}` : text),
  )
  if (within.some((part) => UNKNOWN_INNER.test(part))) return 'unknown'
  const inner = within.flatMap((part) => [...part.matchAll(INNER_ASSIGNMENT)].map(([, set = '']) => unknownOf(set)))
  if (SETS.test(name)) {
    if (args.some(({ text, dynamic }) => dynamic && !/^(?:\w+(?:\[.*?\])?(?:\+?=|$)|-)/s.test(text))) return 'unknown'
    const set = variables.map((one) => ({ name: one.name, value: one.value.text }))
    const quoted = words.flatMap((word) => {
      const [, variable, value] = /^(\w+)(?:\[.*?\])?(?:\+?=(.*))?$/s.exec(word) ?? []
      // Without a value it hands on the one that it has.
      return variable === undefined ? [] : [{ name: variable, value: value ?? `$${variable}` }]
    })
    return [...set, ...quoted, ...inner]
  }
  // A format that begins an option and is known only then may be `-v`.
  if (name === 'printf' && args[0]?.dynamic === true && /^-(?!v)/.test(args[0].text)) return 'unknown'
  const filled = filledNames(name, args)
  if (filled.some((word, at) => !VALUED[name]?.test(filled[at - 1]?.text ?? '') && hasUnknownName(word)))
    return 'unknown'
  const value = name === 'unset' ? '' : null
  // What is an option's and what is a name is not told apart: a prompt counts as a name too.
  const names = filled.map(({ text }) => NAME.exec(text)?.[1] ?? /^-\w*?[aC](\w+)$/.exec(text)?.[1] ?? text)
  return [...names.map((one) => ({ name: one, value })), ...inner]
}

/** The words that name what a command fills. */
function filledNames(name: string, args: readonly Word[]): readonly Word[] {
  const [first, second] = args
  if (name === 'getopts') return second === undefined ? [] : [second]
  if (name === 'printf') {
    const [, attached] = /^-v(.*)$/s.exec(first?.text ?? '') ?? []
    if (first !== undefined && attached) return [{ ...first, text: attached }]
    // A format that is known only then may be that option.
    const isOption = attached === '' || (first?.dynamic === true && /^[$`]/.test(first.text))
    return isOption && second !== undefined ? [attached === '' ? second : first!] : []
  }
  return FILLS.test(name) ? args : []
}

/** Options are none, but for the one that a list's name may hang on. */
const hasUnknownName = ({ text, dynamic }: Word): boolean =>
  dynamic && !NAME.test(text) && (!text.startsWith('-') || /^-\w*[aC]/.test(text))

const unknownOf = (name: string): KeptVariable => ({ name, value: null })

const MAX_LOOKED_AT = 10_000

const innerParts = (text: string): readonly string[] => text.slice(0, MAX_LOOKED_AT).match(INNER) ?? []

/** The scripts that environments of Python are entered by, where people keep these in a project. */
const ACTIVATION = /(?:^|\/)(?:\.?venv|env)\/bin\/activate$/

/** Whether a command enters an environment of Python, which puts its programs first: one that neither its line nor its session wrote. */
export function isActivation({ name, args, made, downloads, context }: Invocation): boolean {
  const [file] = args
  if (!/^(?:source|\.)$/.test(name) || args.length !== 1 || file === undefined || file.dynamic) return false
  const path = resolveShellPath(file.text, context)
  if (made.has(path) || downloads.has(path) || downloads.has(file.text)) return false
  if (wroteActivation(path, context)) return false
  return ACTIVATION.test(path) || (/\/activate$/.test(path) && isPersons(file.text, context))
}

/** Folders of environments of Python, whose `bin/activate` comes with them. */
const ENVIRONMENT = /(?:^|\/)(?:\.?venv|env)(?:\/bin)?$/
const PUTS_IN_PLACE = /^(?:cp|mv|ln|rsync|install)$/

/** Whether the script, or a folder that it lies in, was put there in the session. */
const wroteActivation = (path: string, { activations }: CommandContext): boolean =>
  [path, path.replace(/\/activate$/, ''), path.replace(/\/bin\/activate$/, '')].some((one) => activations?.has(one))

/** The scripts that enter an environment of Python, and folders of such, that an action writes by its words; resolved. */
export function activationsWritten(
  action: Action,
  collected: Pick<Collected, 'invocations'> | null,
  userHome: string,
): readonly string[] {
  if (action.type === 'write')
    return /\/activate$/.test(action.path) ? [resolveShellPath(action.path, { userHome })] : []
  return (collected?.invocations ?? []).flatMap((invocation) =>
    writeTargets(invocation)
      .map((path) => resolveShellPath(path, invocation.context))
      .filter((path) => /\/activate$/.test(path) || (PUTS_IN_PLACE.test(invocation.name) && ENVIRONMENT.test(path))),
  )
}

const isPersons = (path: string, context: CommandContext): boolean =>
  /^[/~]/.test(path) && isBeyond(path, context.workspace ?? [], context)

/** Whether what is sourced lies where an agent may write, or is made only then. A person's own files, elsewhere, are theirs. */
function isUnseenSource(invocation: Invocation): boolean {
  if (isActivation(invocation)) return false
  const { args, context } = invocation
  const file = args.find(({ text }) => !text.startsWith('-'))
  if (file === undefined) return false
  return file.dynamic || !isPersons(file.text, context)
}
