import type { Io } from '@hermes/runtime/app'
import { runServer } from '@hermes/runtime/app/server'
import { serve } from './serve.js'

declare const __HERMES_VERSION__: string

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

/** Serves one client on standard input and output until it leaves; resolves with the exit code and never rejects. */
export function main(argv: readonly string[], io: Io): Promise<number> {
  const server = {
    name: 'acp',
    version: __HERMES_VERSION__,
    help: HELP,
    options: { yolo: { type: 'boolean' } },
  } as const
  return runServer(argv, io, server, ({ yolo = false }, agent) => {
    if (io.stdin.isTTY)
      io.stderr.write(
        'hermes acp speaks the Agent Client Protocol and waits for an editor on standard input; Ctrl-D ends it.\n',
      )
    return serve(io, { agent, yolo, version: __HERMES_VERSION__ })
  })
}
