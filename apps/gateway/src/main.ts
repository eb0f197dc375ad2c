import type { Io } from '@hermes/runtime/app'
import { ARGUMENT_HELP, parseArguments } from './arguments.js'

declare const __HERMES_VERSION__: string

const EXIT_USAGE = 2

/** Serves the API until a signal ends it; resolves with the exit code and never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(argv)
  if (typeof parsed === 'string') {
    io.stderr.write(`hermes gateway: ${parsed}\n`)
    return EXIT_USAGE
  }
  if (parsed.help || parsed.version) {
    io.stdout.write(parsed.help ? ARGUMENT_HELP : `${__HERMES_VERSION__}\n`)
    return 0
  }
  const { serve } = await import('./serve.js')
  return serve(io, { flags: parsed.flags, version: __HERMES_VERSION__ })
}
