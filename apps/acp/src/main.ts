import { parseArgs } from 'node:util'
import type { Io } from '@hermes/runtime/app'
import type { ServeOptions } from './options.js'
import { serve } from './serve.js'

declare const __HERMES_VERSION__: string

const EXIT_USAGE = 2
const HELP = `Usage: hermes acp [options]     (alone: hermes-acp [options])

Hermes for editors: speaks the Agent Client Protocol on standard input and output. Editors start it; there is nothing to type.

Options:
  -m, --model <id>      model to use
  --provider <name>     provider to use
  --base-url <url>      any OpenAI-compatible endpoint
  --max-turns <n>       model calls (steps) of one prompt before the agent has to summarise
  --yolo                do not ask before dangerous commands (a hard floor stays)
  -V, --version         print the version
  -h, --help            print this
`

const OPTIONS = {
  model: { type: 'string', short: 'm' },
  provider: { type: 'string' },
  'base-url': { type: 'string' },
  'max-turns': { type: 'string' },
  yolo: { type: 'boolean' },
  version: { type: 'boolean', short: 'V' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Serves one client on standard input and output until it leaves; resolves with the exit code and never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const parsed = parse(argv)
  if (typeof parsed === 'string') {
    io.stderr.write(`hermes acp: ${parsed}\n`)
    return EXIT_USAGE
  }
  if (parsed.help || parsed.version) {
    io.stdout.write(parsed.help ? HELP : `${__HERMES_VERSION__}\n`)
    return 0
  }
  if (io.stdin.isTTY)
    io.stderr.write(
      'hermes acp speaks the Agent Client Protocol and waits for an editor on standard input; Ctrl-D ends it.\n',
    )
  return serve(io, { ...parsed.options, version: __HERMES_VERSION__ })
}

interface Parsed {
  readonly help: boolean
  readonly version: boolean
  readonly options: Omit<ServeOptions, 'version'>
}

/** The options, or one line that says what is wrong with them. */
function parse(argv: readonly string[]): Parsed | string {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS })
    const maxSteps = values['max-turns'] === undefined ? undefined : Number(values['max-turns'])
    if (maxSteps !== undefined && !(Number.isInteger(maxSteps) && maxSteps >= 1))
      return '--max-turns takes a whole number of at least 1.'
    const agent = {
      ...(values.model === undefined ? {} : { model: values.model }),
      ...(values.provider === undefined ? {} : { provider: values.provider }),
      ...(values['base-url'] === undefined ? {} : { baseUrl: values['base-url'] }),
      ...(maxSteps === undefined ? {} : { maxSteps }),
    }
    const options = { agent, yolo: values.yolo ?? false }
    return { help: values.help ?? false, version: values.version ?? false, options }
  } catch (error) {
    const [line = ''] = String((error as Error).message).split('\n')
    const flags = Object.keys(OPTIONS).map((name) => `--${name}`)
    return `${line.replace(/\. To specify.*$/, '').replace(/\.?$/, '.')} Valid flags: ${flags.join(', ')}.`
  }
}
