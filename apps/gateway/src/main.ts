import type { Finding } from '@hermes/contracts/extension'
import type { Io } from '@hermes/runtime/app'
import { type AgentFlags, runServer, wholeNumber } from '@hermes/runtime/app/server'
import type { CheckOptions } from './platforms/check-platforms.js'

declare const __HERMES_VERSION__: string

const HELP = `Usage: hermes gateway [run] [options]     (alone: hermes-gateway [options])
       hermes gateway start|restart [options]   in the background; a restart lets what is under way end
       hermes gateway stop                end those that run, once what they do is done
       hermes gateway reload              have config.yaml and .env read again, without a restart
       hermes gateway status              which gateways run, and whether they hear
       hermes gateway logs                what they wrote
       hermes gateway install [options]   as a service of systemd or launchd, started with your login
       hermes gateway uninstall           take that back
       hermes gateway platforms [pause|resume <name>]   those that have an account; has one rest, and go on
       hermes gateway setup <name>        give telegram, email or the platform of a plugin an account: asks, tries it, keeps it in .env

Serves the agent in chats (Telegram, email, those that plugins bring) and as an OpenAI-compatible API:
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

/** What `hermes doctor` says of the chat platforms of a home. */
export async function checkChats(options: CheckOptions): Promise<readonly Finding[]> {
  return (await import('./platforms/check-platforms.js')).checkPlatforms(options)
}

/** What is not to serve. */
const LOOKS = ['status', 'platforms', 'logs'] as const
const ACTS = ['stop', 'reload', 'uninstall', 'start', 'restart', 'install'] as const
/** Those that start one take its flags. */
const STARTS: ReadonlySet<string> = new Set(['start', 'restart', 'install'])

/** Serves the API until a signal ends it, or does what else is asked; resolves with the exit code and never rejects. */
export async function main(input: readonly string[], io: Io): Promise<number> {
  // The word of the `hermes` command, so that both programs take one command line.
  const argv = input[0] === 'gateway' ? input.slice(1) : input
  const [first, ...rest] = argv
  if (first === 'platforms' && rest.length > 0) return (await import('./look.js')).pause(io, rest)
  const [look, act] = [LOOKS.find((verb) => verb === first), ACTS.find((verb) => verb === first)]
  if ((look || act) && rest.length > 0 && !STARTS.has(first!)) {
    io.stderr.write(`hermes gateway: ${first} takes nothing more.\n`)
    return EXIT_USAGE
  }
  if (first === 'setup') return (await import('./setup.js')).setupPlatform(io, rest.length === 1 ? rest[0] : undefined)
  if (look) return (await import('./look.js'))[look](io)
  if (!act) return run(first === 'run' ? rest : argv, io)
  const perform = async () => (await import('./service/service.js'))[act](io, rest)
  return rest.length === 0 ? perform() : server(rest, io, perform)
}

type Flags = Parameters<Parameters<typeof runServer<typeof OPTIONS>>[3]>[0]

function run(argv: readonly string[], io: Io): Promise<number> {
  return server(argv, io, async ({ host, port, cwd, ...flags }, agent) => {
    const allowLoopbackWithoutKey = flags['allow-loopback-without-key'] ?? false
    const { serve } = await import('./serve.js')
    const read = { host, port: portOf(port), cwd, allowLoopbackWithoutKey, agent }
    return serve(io, { flags: read, argv, version: __HERMES_VERSION__ })
  })
}

function server(argv: readonly string[], io: Io, serve: (flags: Flags, agent: AgentFlags) => Promise<number>) {
  const described = { name: 'gateway', version: __HERMES_VERSION__, help: HELP, options: OPTIONS }
  return runServer(argv, io, described, (flags, agent) => {
    portOf(flags.port)
    return serve(flags, agent)
  })
}

const portOf = (text: string | undefined) => wholeNumber('--port', text, { min: 0, max: 65_535 })
