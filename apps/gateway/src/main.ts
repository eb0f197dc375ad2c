import type { Io } from '@hermes/runtime/app'
import { runServer, wholeNumber } from '@hermes/runtime/app/server'

declare const __HERMES_VERSION__: string

const HELP = `Usage: hermes gateway [run] [options]     (alone: hermes-gateway [options])
       hermes gateway status              which gateways run, and whether they hear
       hermes gateway stop                end those that run, once what they do is done
       hermes gateway platforms           the chat platforms that have an account

Serves the agent in chats (Telegram: TELEGRAM_BOT_TOKEN in .env) and as an OpenAI-compatible API:
POST /v1/chat/completions, GET /v1/models, GET /health.
Clients of the API send the key in API_SERVER_KEY (environment, .env, or gateway.api_server.key in config.yaml) as a bearer token.

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

const EXIT_USAGE = 2

const OPTIONS = {
  host: { type: 'string' },
  port: { type: 'string' },
  cwd: { type: 'string' },
  'allow-loopback-without-key': { type: 'boolean' },
} as const

/** Serves the API until a signal ends it; resolves with the exit code and never rejects. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv
  if (first === 'status' || first === 'platforms' || first === 'stop') {
    if (rest.length > 0) {
      io.stderr.write(`hermes gateway: ${first} takes nothing more.\n`)
      return EXIT_USAGE
    }
    return (await import('./look.js'))[first](io)
  }
  const server = { name: 'gateway', version: __HERMES_VERSION__, help: HELP, options: OPTIONS }
  return runServer(first === 'run' ? rest : argv, io, server, async ({ host, cwd, ...flags }, agent) => {
    const port = wholeNumber('--port', flags.port, { min: 0, max: 65_535 })
    const allowLoopbackWithoutKey = flags['allow-loopback-without-key'] ?? false
    const { serve } = await import('./serve.js')
    return serve(io, { flags: { host, port, cwd, allowLoopbackWithoutKey, agent }, version: __HERMES_VERSION__ })
  })
}
