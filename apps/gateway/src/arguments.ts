import { parseArgs } from 'node:util'

/** What the command line asks for; the rest comes from the environment, `.env` and `config.yaml`. */
export interface Flags {
  readonly host?: string
  readonly port?: number
  /** Where agents work. Default: the current folder. */
  readonly cwd?: string
  readonly allowLoopbackWithoutKey: boolean
  readonly agent: {
    readonly model?: string
    readonly provider?: string
    readonly baseUrl?: string
    readonly maxSteps?: number
  }
}

export const ARGUMENT_HELP = `Usage: hermes gateway [options]     (alone: hermes-gateway [options])

Serves the agent as an OpenAI-compatible API: POST /v1/chat/completions, GET /v1/models, GET /health.
Clients send the key in API_SERVER_KEY (environment, .env, or gateway.api_server.key in config.yaml) as a bearer token.

Options:
  --host <address>               where to listen (default 127.0.0.1)
  --port <number>                default 8642; 0 takes a free one
  --cwd <folder>                 where agents work (default: here)
  --allow-loopback-without-key   without a key: serve this machine only, refuse web pages of other origins
  -m, --model <id>               model to use
  --provider <name>              provider to use
  --base-url <url>               any OpenAI-compatible endpoint
  --max-turns <n>                model calls (steps) of one request before the agent has to summarise
  -V, --version                  print the version
  -h, --help                     print this
`

const OPTIONS = {
  host: { type: 'string' },
  port: { type: 'string' },
  cwd: { type: 'string' },
  'allow-loopback-without-key': { type: 'boolean' },
  model: { type: 'string', short: 'm' },
  provider: { type: 'string' },
  'base-url': { type: 'string' },
  'max-turns': { type: 'string' },
  version: { type: 'boolean', short: 'V' },
  help: { type: 'boolean', short: 'h' },
} as const

/** A command line that was understood. */
export interface Arguments {
  readonly help: boolean
  readonly version: boolean
  readonly flags: Flags
}

/** The command line, or one line that says what is wrong with it. */
export function parseArguments(argv: readonly string[]): Arguments | string {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS })
    const port = wholeNumber('--port', values.port, { min: 0, max: 65_535 })
    const maxSteps = wholeNumber('--max-turns', values['max-turns'], { min: 1, max: Number.MAX_SAFE_INTEGER })
    const { host, cwd, model, provider, 'base-url': baseUrl } = values
    const flags = {
      ...definedOnly({ host, port, cwd }),
      allowLoopbackWithoutKey: values['allow-loopback-without-key'] ?? false,
      agent: definedOnly({ model, provider, baseUrl, maxSteps }),
    }
    return { help: values.help ?? false, version: values.version ?? false, flags }
  } catch (error) {
    if (error instanceof RangeError) return error.message
    const [line = ''] = (error as Error).message.split('\n')
    const valid = Object.keys(OPTIONS).map((name) => `--${name}`)
    return `${line.replace(/\. To specify.*$/, '').replace(/\.?$/, '.')} Valid flags: ${valid.join(', ')}.`
  }
}

function wholeNumber(flag: string, text: string | undefined, range: { readonly min: number; readonly max: number }) {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= range.min && value <= range.max) return value
  const upTo = range.max === Number.MAX_SAFE_INTEGER ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`
  throw new RangeError(`${flag} takes a whole number ${upTo}, got "${text}".`)
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

function definedOnly<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
