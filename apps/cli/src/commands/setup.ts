import { loadConfig, loadSecrets } from '@hermes/config'
import { findProvider } from '@hermes/transports'
import { EXIT, UsageError } from '../errors.js'
import type { Console, ConsoleHandlers } from '../interactive/console.js'
import { openConsole } from '../interactive/open-console.js'
import { keepingAnswers } from '../interactive/questions.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { wrap } from '../render/style.js'
import { type Endpoint, modelsAt } from '../setup/endpoint.js'
import { endpointFromFlags, type SetupOptions } from '../setup/from-flags.js'
import { findLocalServers, LOCAL_SERVERS } from '../setup/local-servers.js'
import { saveChoice } from '../setup/save-choice.js'
import { testCall } from '../setup/test-call.js'
import { chooseEndpoint, chooseModelName } from '../setup/wizard.js'

const MODELS_NAMED = 20

interface Choice {
  readonly endpoint: Endpoint
  readonly model: string
}

/**
 * `hermes setup`: chooses a model, tests it with one call and keeps it. Nothing is written before the test went well. `next` ends what is said
 * then.
 */
export async function setup(io: Io, options: SetupOptions, next = ' Start with: hermes'): Promise<number> {
  const home = homeOf(io)
  const { problems, source } = await loadConfig({ home, env: io.env })
  if (source !== 'file' && problems[0]) throw new UsageError(`${problems[0].message} Fix it, then run setup again.`)
  const { values: secrets } = await loadSecrets({ home, env: io.env })
  if (options.provider !== undefined || options.baseUrl !== undefined) return fromFlags(io, options, { secrets, next })
  if (options.model !== undefined || options.keyEnv !== undefined)
    throw new UsageError('--model and --key-env need --provider or --base-url beside them.')
  if (!io.stdin.isTTY || !io.stdout.isTTY)
    throw new UsageError('Nobody can be asked here. Name it all: hermes setup --provider NAME --model ID')
  return wizard(io, { secrets, next })
}

interface Start {
  readonly secrets: Readonly<Record<string, string>>
  readonly next: string
}

async function fromFlags(io: Io, options: SetupOptions, { secrets, next }: Start): Promise<number> {
  const endpoint = endpointFromFlags(options, secrets)
  const model = options.model ?? findProvider(endpoint.provider)?.defaultModel ?? (await onlyModel(io, endpoint))
  const problem = await testCall(endpoint, model, { env: io.env })
  if (problem !== null) {
    io.stderr.write(`hermes: ${problem} Nothing was changed.\n`)
    return EXIT.failed
  }
  await save(io, { endpoint, model }, next)
  return EXIT.ok
}

async function onlyModel({ env }: Io, endpoint: Endpoint): Promise<string> {
  const models = await modelsAt(endpoint, { env })
  if (models?.length === 1) return models[0]!
  const there = models ? ` There: ${models.slice(0, MODELS_NAMED).join(', ')}.` : ''
  throw new UsageError(`Which model? Name one with --model.${there}`)
}

async function save(io: Io, { endpoint, model }: Choice, next: string): Promise<void> {
  await saveChoice(homeOf(io), endpoint, model)
  const text = `${model} at ${endpoint.name} answered and is what Hermes uses from now on.${next}`
  io.stdout.write(`${io.stdout.isTTY ? wrap(text, io.stdout.columns()) : text}\n`)
}

/** Asks until a choice works or the person gives up. */
async function wizard(io: Io, { secrets, next }: Start): Promise<number> {
  let console: Console | null = null
  const over = new AbortController()
  const end = () => {
    over.abort()
    console?.close()
  }
  const handlers: ConsoleHandlers = { onLine: () => undefined, onInterrupt: end, onStop: end, onEnd: end }
  const stopListening = io.onInterrupt(end)
  const { output, pick } = (console = openConsole(io, { terminal: io.stdout, handlers }))
  const asker = keepingAnswers({ output, pick: pick.bind(console) })
  try {
    output.write('Looking for model servers on this machine …\n')
    const servers = await findLocalServers(LOCAL_SERVERS)
    while (!over.signal.aborted) {
      const found = await attempt(asker, { servers, secrets }, { env: io.env, signal: over.signal })
      if (found === 'given up' || over.signal.aborted) break
      if (found === 'again') continue
      console.close()
      await save(io, found, next)
      return EXIT.ok
    }
    console.close()
    io.stderr.write('Nothing was changed.\n')
    return EXIT.interrupted
  } finally {
    stopListening()
    console.close()
  }
}

type Attempt = Choice | 'again' | 'given up'

/** One round of questions and the test of what they came to. */
async function attempt(
  asker: Parameters<typeof chooseEndpoint>[0],
  known: Parameters<typeof chooseEndpoint>[1],
  around: { readonly env: Io['env']; readonly signal: AbortSignal },
): Promise<Attempt> {
  try {
    const endpoint = await chooseEndpoint(asker, known)
    if (!endpoint) return 'given up'
    const models = (await modelsAt(endpoint, around)) ?? []
    const model = await chooseModelName(asker, models, findProvider(endpoint.provider)?.defaultModel)
    if (!model) return 'again'
    asker.output.write(`Asking ${model} at ${endpoint.name} …\n`)
    const problem = await testCall(endpoint, model, around)
    if (problem === null) return { endpoint, model }
    asker.output.write(`${problem}\n`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    asker.output.write(`${error.message}\n`)
  }
  return 'again'
}
