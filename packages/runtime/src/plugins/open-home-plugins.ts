import { join } from 'node:path'
import { type HermesConfig, homeLayout, type OwnValue, type TrustStore } from '@hermes/config'
import { type Clock, HermesError, type JsonValue, type Logger, silentLogger } from '@hermes/contracts'
import { type Environment, programLine, type RunningProgram } from '@hermes/contracts/environment'
import type { Action, Permit, Policy, Subject } from '@hermes/contracts/policy'
import type { HomeHooks } from '@hermes/hooks'
import { type HomePlugins, openPlugins, type PluginHost, type PluginProgram, type ProgramResult } from '@hermes/plugins'
import { createLocalEnvironment, type IsolationSupport } from '@hermes/sandbox'
import { isolationOf } from '../environment/isolation-options.js'

/** What is known before a home is open. */
interface HomePluginOptions {
  readonly home: string
  readonly userHome: string
  readonly cwd: string
  readonly user: string
  readonly tempDir: string
  readonly env: Readonly<Record<string, string>>
  readonly isSafe: boolean
  readonly config: HermesConfig
  readonly own: readonly OwnValue[]
  readonly secrets: Readonly<Record<string, string>>
  readonly trust: TrustStore
  readonly clock: Clock
}

/** What an open home does for its plugins. */
interface PluginServices {
  readonly policy: Pick<Policy, 'decide'>
  readonly isolationSupport: IsolationSupport
  readonly fetchTo: (address: string) => typeof fetch
  readonly agreeToHooks: (source: string) => Promise<void>
  readonly logger: Logger
}

/** The plugins of a home, and how it begins to serve them. */
export interface OpenedPlugins {
  readonly plugins: HomePlugins
  serve(services: PluginServices): void
}

/** Variables that npm, git and tar get. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TMPDIR|TZ|XDG_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no|all)_proxy|npm_config_\w+|SSH_AUTH_SOCK)$/i
const MAX_OUTPUT_BYTES = 20_000_000

/** Reads which plugins count. Nothing of them is started. */
export async function openHomePlugins(options: HomePluginOptions): Promise<OpenedPlugins> {
  const { home, userHome, cwd, own, secrets, trust, clock } = options
  let served: PluginServices | null = null
  const services = (): PluginServices => {
    if (served) return served
    throw new HermesError('The home is not open yet.', { code: 'plugins.not_there' })
  }
  const layout = homeLayout(home)
  const host: PluginHost = {
    directory: layout.plugins,
    dataDirectory: layout.pluginData,
    stateFile: layout.installedPlugins,
    isSafe: options.isSafe,
    sharedDirectory: join(userHome, '.agents', 'plugins'),
    project: async () => {
      const { folder, state } = await trust.look(cwd)
      return { folder, isTrusted: state === 'trusted' }
    },
    config: (key) => own.find((one) => one.key === key)?.value as JsonValue | undefined,
    secret: (name) => secrets[name],
    startProgram: (program) => startPlugin(program, options, services()),
    isolationProblem: async () => isolationProblem(options, services()),
    run: (argv, how) => runProgram(argv, how, { options, services: services() }),
    permit: (action, plugin) =>
      permitFor(
        action,
        { origin: 'plugin', plugin, sessionId: `plugin:${plugin.name}` },
        { options, services: services() },
      ),
    fetchTo: (address) => services().fetchTo(address),
    agreeToHooks: (source) => services().agreeToHooks(source),
    clock,
    get logger() {
      return served?.logger ?? silentLogger
    },
  }
  return {
    plugins: await openPlugins(host),
    serve: (opened) => {
      served = opened
    },
  }
}

function isolationProblem({ config }: HomePluginOptions, { isolationSupport }: PluginServices): string | null {
  return config.terminal.isolation === 'off' ? 'terminal.isolation is off' : isolationSupport.why()
}

/** Node alone, with the plugin's files and data and nothing else of the person's. */
async function startPlugin(
  program: PluginProgram,
  options: HomePluginOptions,
  services: PluginServices,
): Promise<RunningProgram> {
  const { config, home, userHome, env } = options
  const { name, argv, readable, writable, network } = program
  const isHeld = isolationProblem(options, services) === null
  const isolation = isHeld
    ? isolationOf({ config, home, userHome, cwd: writable, isolationSupport: services.isolationSupport })
    : null
  const environment = localEnvironment(options, {
    cwd: writable,
    env: { PATH: env['PATH'] ?? '' },
    isolation: isolation && { ...isolation, writable: [writable], readable, network, required: false },
  })
  const agreed = 'hermes plugins enable'
  return started(argv, { environment, cwd: writable, whose: `plugin:${name}`, agreed }, { options, services })
}

interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly isolation?: ReturnType<typeof isolationOf>
}

function localEnvironment(
  { home, userHome, user, tempDir, clock }: PersonOptions,
  { cwd, env, isolation = null }: Place,
): Environment {
  const outputDir = homeLayout(home).outputs
  const temp = [...new Set([tempDir, '/tmp', '/var/tmp'])]
  return createLocalEnvironment({
    ...{ cwd, env, home: userHome, outputDir, user, clock },
    ...(isolation ? { temp, isolation } : {}),
  })
}

/** Who runs a program, and where. */
type PersonOptions = Pick<HomePluginOptions, 'home' | 'userHome' | 'user' | 'tempDir' | 'env' | 'clock'>

interface Opened {
  readonly options: PersonOptions
  readonly services: Pick<PluginServices, 'policy'>
}

/** An environment of its own for each start: it ends with the program, and the program with it. */
async function started(
  argv: readonly [string, ...string[]],
  {
    environment,
    cwd,
    whose,
    agreed,
  }: { readonly environment: Environment; readonly cwd: string; readonly whose: string; readonly agreed: string },
  opened: Opened,
): Promise<RunningProgram> {
  try {
    const action = { type: 'spawn', command: programLine(argv), cwd, backend: 'local' } as const
    const permit = await permitFor(action, { origin: 'operator', sessionId: whose }, opened, agreed)
    const program = await environment.startProgram!(permit, { argv, cwd })
    void program.ended.then(() => environment.close())
    return program
  } catch (error) {
    await environment.close()
    throw error
  }
}

async function permitFor(
  action: Action,
  whose: Pick<Subject, 'origin' | 'sessionId' | 'plugin'>,
  { options: { user }, services: { policy } }: Opened,
  agreed?: string,
): Promise<Permit> {
  const subject = { platform: 'plugin', user, agentPath: ['root'], tainted: false, ...whose }
  const decision = await policy.decide(action, subject, { mayAsk: false, ...(agreed === undefined ? {} : { agreed }) })
  if (decision.type === 'allow') return decision.permit
  const reason = decision.type === 'deny' ? decision.reason : decision.question.summary
  throw new HermesError(`Not permitted: ${reason}`, { code: 'policy.denied' })
}

/** A program that the person has installed, to get what they named. `agreed`: the command that they gave. */
export async function runProgram(
  argv: readonly [string, ...string[]],
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
  opened: Opened,
  { whose, agreed } = { whose: 'plugins', agreed: 'hermes plugins install' },
): Promise<ProgramResult> {
  const passed = Object.fromEntries(Object.entries(opened.options.env).filter(([name]) => PASSED.test(name)))
  // Variables count more than the .npmrc of a dependency from git, which may name a git of its own.
  const env = { ...passed, GIT_TERMINAL_PROMPT: '0', npm_config_ignore_scripts: 'true', npm_config_git: 'git' }
  const environment = localEnvironment(opened.options, { cwd, env })
  const program = await started(argv, { environment, cwd, whose, agreed }, opened)
  const stop = () => void program.kill()
  signal.addEventListener('abort', stop, { once: true })
  program.stdin.end()
  const [stdout, stderr] = await Promise.all([collect(program.stdout, stop), collect(program.stderr, stop)])
  const { exitCode } = await program.ended
  signal.removeEventListener('abort', stop)
  return { exitCode, stdout, stderr }
}

async function collect(stream: RunningProgram['stdout'], tooMuch: () => void): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk)
      else tooMuch()
    }
  } catch {
    // What came before it broke off is what there is.
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The yes to a plugin is one to the hooks of its file. */
export async function agreeToHooks(
  hooks: Pick<HomeHooks, 'list' | 'agree'>,
  cwd: string,
  source: string,
): Promise<void> {
  const { hooks: all } = await hooks.list(cwd)
  const numbers = all.filter(({ hook }) => hook.source === source).map(({ number }) => number)
  if (numbers.length > 0) await hooks.agree(cwd, numbers)
}
