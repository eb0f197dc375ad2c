// What the command lines of the servers have in common: those of an app that editors or clients talk to.
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Io } from './run-app.js'

const EXIT_USAGE = 2

const SHARED = {
  model: { type: 'string', short: 'm' },
  provider: { type: 'string' },
  'base-url': { type: 'string' },
  'max-turns': { type: 'string' },
  version: { type: 'boolean', short: 'V' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig

/** Which model answers, as flags say it. */
export interface AgentFlags {
  readonly model?: string
  readonly provider?: string
  readonly baseUrl?: string
  readonly maxSteps?: number
}

/** A server as its command line knows it. */
interface Server<Own extends ParseArgsOptionsConfig> {
  /** The subcommand of `hermes`. */
  readonly name: string
  readonly version: string
  readonly help: string
  /** Its flags beside those that all servers take. */
  readonly options: Own
}

type Values<Own extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Own }>>['values']

/**
 * Reads the command line of a server and serves, prints its help or its version, or says in one line what is wrong with a flag; resolves with
 * the exit code. Rejects only as `serve` does.
 */
export async function runServer<Own extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  io: Io,
  { name, version, help, options }: Server<Own>,
  serve: (flags: Values<Own>, agent: AgentFlags) => Promise<number>,
): Promise<number> {
  try {
    const flags = read(argv, options)
    const { model, provider, 'base-url': baseUrl, ...shared } = flags as Values<typeof SHARED>
    if (shared.help || shared.version) {
      io.stdout.write(shared.help ? help : `${version}\n`)
      return 0
    }
    const maxSteps = wholeNumber('--max-turns', shared['max-turns'], { min: 1 })
    return await serve(flags, definedOnly({ model, provider, baseUrl, maxSteps }))
  } catch (error) {
    if (!(error instanceof FlagError)) throw error
    io.stderr.write(`hermes ${name}: ${error.message}\n`)
    return EXIT_USAGE
  }
}

function read<Own extends ParseArgsOptionsConfig>(argv: readonly string[], own: Own): Values<Own> {
  const options = { ...own, ...SHARED }
  try {
    return parseArgs({ args: [...argv], options }).values as Values<Own>
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    const valid = Object.keys(options).map((flag) => `--${flag}`)
    throw new FlagError(
      `${line.replace(/\. To specify.*$/, '').replace(/\.?$/, '.')} Valid flags: ${valid.join(', ')}.`,
    )
  }
}

/** A flag that cannot be taken; the message says why. */
class FlagError extends Error {}

/** The number that a flag gives; what is none, or out of range, is said to the person by {@link runServer}. `max`: default any. */
export function wholeNumber(
  flag: string,
  text: string | undefined,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw new FlagError(`${flag} takes a whole number ${range}, got "${text}".`)
}

/** Without what is undefined. */
function definedOnly<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}
