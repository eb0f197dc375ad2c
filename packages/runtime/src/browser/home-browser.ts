import { join } from 'node:path'
import { createBrowser, type HomeBrowser } from '@hermes/browser'
import { type HermesConfig, homeLayout } from '@hermes/config'
import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import { programLine, type RunningProgram } from '@hermes/contracts/environment'
import type { Action, Permit, Policy } from '@hermes/contracts/policy'
import type { ToolContext } from '@hermes/contracts/tool'
import type { Proxies } from '@hermes/safety'
import { createLocalEnvironment } from '@hermes/sandbox'
import { permitRead, showBytes, type ToolSettings } from '@hermes/tools'
import { passedVariables, permitOwnProgram } from '../environment/own-program.js'

const MOST_UPLOAD_BYTES = 50_000_000

/** What the browser of a home gets of it. */
interface HomeBrowserOptions {
  readonly home: string
  readonly userHome: string
  readonly user: string
  readonly env: Readonly<Record<string, string>>
  readonly config: HermesConfig
  readonly policy: Policy
  readonly proxies: Proxies | null
  /** What is set in `.env` and the environment. */
  readonly secrets: Readonly<Record<string, string>>
  readonly conceal: (secret: string) => void
  readonly fetchTo: (address: string) => typeof fetch
  /** Whether the model of a session sees pictures, and who tells it what they show otherwise. */
  readonly pictures: Pick<ToolSettings, 'seesImages' | 'describeImage'>
  readonly clock: Clock
  readonly logger: Logger
}

/** The browser for a home. Nothing is loaded or started before a page is opened. */
export function openHomeBrowser(options: HomeBrowserOptions): HomeBrowser {
  const { home, env, config, secrets, conceal, proxies, pictures, clock, logger } = options
  return createBrowser({
    start: (argv) => start(argv, options),
    env,
    isRoot: process.getuid?.() === 0,
    cacheDir: join(homeLayout(home).cache, 'browser'),
    // Among what tools put out: commands can read it there, isolated ones too.
    downloadDir: join(homeLayout(home).outputs, 'downloads'),
    recordingDir: join(homeLayout(home).cache, 'browser-recordings'),
    vaultFile: homeLayout(home).vault,
    vaultPassphrase: secrets['HERMES_VAULT_PASSPHRASE'] || null,
    profileDir: homeLayout(home).browserProfiles,
    conceal,
    readFile: readPermitted,
    showImage: (bytes, { place, question, call }) =>
      showBytes(bytes, { place, question, context: call, settings: pictures }),
    cloud: {
      variables: options.secrets,
      fetchTo: options.fetchTo,
      openSocket: (address) => new WebSocket(address),
      permit: (action) => permitCloud(action, options),
    },
    proxies,
    // Private addresses stay apart from public pages even where nobody is asked about them.
    network: { allowRanges: config.security.allowed_ranges },
    clock,
    logger,
  })
}

/** The person chose who rents out browsers; rules that deny it count all the same. */
async function permitCloud(action: Action, { policy, user }: HomeBrowserOptions): Promise<Permit> {
  const subject = { sessionId: 'browser', platform: 'browser', user, agentPath: ['root'], tainted: false } as const
  const decision = await policy.decide(action, { ...subject, origin: 'operator' }, { mayAsk: false })
  if (decision.type === 'allow') return decision.permit
  throw new HermesError(decision.type === 'deny' ? decision.reason : decision.question.summary, {
    code: 'policy.denied',
  })
}

/** A whole file for a page, as `read_file` may read it. */
async function readPermitted(path: string, call: ToolContext): Promise<Uint8Array> {
  const real = await permitRead(call, path)
  const stat = await call.environment.stat(real)
  if (stat?.type !== 'file') throw new HermesError(`${path} is no file.`, { code: 'browser.no_file' })
  if (stat.sizeBytes > MOST_UPLOAD_BYTES)
    throw new HermesError(`${path} is larger than ${MOST_UPLOAD_BYTES / 1_000_000} MB.`, { code: 'browser.no_file' })
  const bytes = await call.environment.read(real, { noLinks: true })
  if (bytes === null) throw new HermesError(`${path} disappeared while it was read.`, { code: 'browser.no_file' })
  return bytes
}

/** An environment of its own for each start: it ends with the program, and the program with it. */
async function start(
  argv: readonly [string, ...string[]],
  { home, userHome, user, env, policy, clock, logger }: HomeBrowserOptions,
): Promise<RunningProgram> {
  const environment = createLocalEnvironment({
    cwd: userHome,
    env: passedVariables(env),
    home: userHome,
    outputDir: homeLayout(home).outputs,
    user,
    clock,
    logger,
  })
  try {
    const action = { type: 'spawn', command: programLine(argv), cwd: userHome, backend: 'local' } as const
    const name = 'The browser'
    const permit = await permitOwnProgram(action, { platform: 'browser', name, sessionId: 'browser', user, policy })
    const program = await environment.startProgram!(permit, { argv, cwd: userHome, onDescriptors: true })
    void program.ended.then(() => environment.close())
    return program
  } catch (error) {
    await environment.close()
    throw error
  }
}
