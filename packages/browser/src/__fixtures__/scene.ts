import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HermesError, type LogFields, systemClock } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { Action, ApprovalChoice, ApprovalQuestion, Decision, Permit, Subject } from '@hermes/contracts/policy'
import type { Tool, ToolContext } from '@hermes/contracts/tool'
import { createAllowAllPolicy, createOriginFetch, createPolicy } from '@hermes/safety'
import type { CloudPort } from '../cloud/cloud-port.js'
import { BrowserSessions } from '../session/sessions.js'
import { type BrowserSettings, DEFAULT_SETTINGS } from '../settings.js'
import { cdpTool } from '../tools/cdp-tool.js'
import { actTools } from '../tools/act-tools.js'
import { fileTools } from '../tools/file-tools.js'
import { lookTools } from '../tools/look-tools.js'
import { vaultTools } from '../tools/vault-tools.js'
import { visionTool } from '../tools/vision-tool.js'
import { createVault, type Vault } from '../vault/vault.js'

/** What counts as public here; everything else of the loopback network is near. */
export const PUBLIC = '127.0.0.2'
/** Another public network: of whoever wants what is not theirs. */
export const ELSEWHERE = '127.0.0.3'

const NETWORK = { allowRanges: [`${PUBLIC}/32`, `${ELSEWHERE}/32`] }

/** A browser of this machine with its tools, as sessions have them. */
export interface BrowserScene extends AsyncDisposable {
  readonly sessions: BrowserSessions
  readonly folder: string
  /** What permits were requested for, in their order. */
  readonly requested: Action[]
  /** Names that were looked up, in their order. */
  readonly resolved: string[]
  /** Addresses of further names. */
  readonly names: Map<string, string>
  /** What a person was asked, in their order, once {@link BrowserScene.answers} is there. */
  readonly questions: string[]
  /** A person who answers what the policy asks; `null` stands for a policy that allows everything. */
  answers: ((question: ApprovalQuestion) => ApprovalChoice) | null
  /** What is logged, as it is before anything is taken out of it. */
  readonly logged: string[]
  /** What is taken out of logs. */
  readonly concealed: string[]
  /** What the person types where nobody sees it, one after the other. */
  readonly typedSecrets: string[]
  readonly vault: Vault
  /** Whether text from outside was read. */
  isTainted: boolean
  /** Says what is denied; default nothing. */
  denies: (action: Action) => boolean
  settings: BrowserSettings
  /** How far its clock is before that of the machine. */
  aheadMs: number
  /** How often what is idle is looked for, instead of every fifteen seconds. */
  watchMs: number
  /** The group of the browser that was started last. */
  pid: number | null
  call(name: string, args?: object, sessionId?: string): Promise<string>
}

/** Starts nothing before a page is opened. Without a folder it has one of its own, which goes with it. */
export async function openScene(
  chosen?: string,
  cloud: Readonly<Record<string, string>> = {},
): Promise<BrowserScene> {
  const folder = chosen ?? (await mkdtemp(join(tmpdir(), 'hermes-browser-')))
  const requested: Action[] = []
  const resolved: string[] = []
  const logged: string[] = []
  const log = (message: string, fields?: LogFields) => void logged.push(`${message} ${JSON.stringify(fields ?? {})}`)
  const scene: BrowserScene = {
    folder,
    requested,
    resolved,
    logged,
    names: new Map(),
    questions: [],
    concealed: [],
    typedSecrets: [],
    vault: createVault(join(folder, 'vault.json')),
    answers: null,
    isTainted: false,
    denies: () => false,
    // A machine under load takes longer than a page may.
    settings: { ...DEFAULT_SETTINGS, commandMs: 300_000 },
    aheadMs: 0,
    watchMs: 15_000,
    pid: null,
    sessions: new BrowserSessions(
      {
        start: async (argv) => {
          const { program, pid } = startOnDescriptors(argv)
          scene.pid = pid
          return program
        },
        env: process.env,
        isRoot: process.getuid?.() === 0,
        cacheDir: join(folder, 'cache'),
        downloadDir: join(folder, 'downloads'),
        recordingDir: join(folder, 'recordings'),
        readFile: (path) => readFile(path),
        showImage: async (bytes, { question }) => `${question} ${bytes.length}`,
        vaultFile: join(folder, 'vault.json'),
        vaultPassphrase: null,
        profileDir: join(folder, 'profiles'),
        conceal: (secret) => void scene.concealed.push(secret),
        cloud: scenePort(cloud),
        proxies: null,
        network: NETWORK,
        resolve: async (name) => {
          resolved.push(name)
          const named = scene.names.get(name)
          if (named !== undefined) return [{ address: named, family: named.includes(':') ? 6 : 4 }]
          if (name === 'rebind.test') return [{ address: '127.0.0.1', family: 4 }]
          if (name.endsWith('leak.test')) return [{ address: ELSEWHERE, family: 4 }]
          if (name.endsWith('.test')) return [{ address: PUBLIC, family: 4 }]
          if (name === 'localhost') return [{ address: '127.0.0.1', family: 4 }]
          throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
        },
        clock: {
          now: () => systemClock.now() + scene.aheadMs,
          sleep: (ms, signal) => systemClock.sleep(ms === 15_000 ? scene.watchMs : ms, signal),
        },
        logger: { debug: log, info: log, warn: log, error: log },
      },
      () => scene.settings,
    ),
    async call(name, args = {}, sessionId = 'one') {
      const tool = tools.find((one) => one.name === name)!
      const actions = (await tool.actions?.(args, { sessionId } as never)) ?? []
      const context = contextOf(sessionId, scene)
      for (const action of actions) await context.permit(action)
      const result = await tool.execute(withDefaults(tool, args), context)
      return typeof result === 'string' ? result : (result.text ?? '')
    },
    async [Symbol.asyncDispose]() {
      await scene.sessions.close()
      if (chosen === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
  const tools: readonly Tool[] = [
    ...lookTools(scene.sessions),
    ...actTools(scene.sessions),
    cdpTool(scene.sessions),
    ...vaultTools(scene.sessions, { vault: scene.vault, vaultPassphrase: null, conceal: (secret) => void scene.concealed.push(secret), clock: systemClock }),
    ...fileTools(scene.sessions, { readFile: (path) => readFile(path) }),
    visionTool(scene.sessions, { showImage: async (bytes, { place }) => `${place} ${bytes.length}` }),
  ]
  return scene
}

/** Clouds by the variables that a home has for them, all of them on this machine. */
const scenePort = (variables: Readonly<Record<string, string>>): CloudPort => ({
  variables,
  fetchTo: (address) => createOriginFetch({ baseUrl: address }),
  openSocket: (address) => new WebSocket(address) as never,
  permit: permitAll,
})

/** Leave for everything. */
export async function permitAll(action: Action): Promise<Permit> {
  const subject = { sessionId: 'one', platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
  const decision = await createAllowAllPolicy().decide(action, subject)
  if (decision.type !== 'allow') throw new Error('The policy allows everything.')
  return decision.permit
}

function withDefaults({ parameters }: Tool, args: object): object {
  const { properties = {} } = parameters as { readonly properties?: Record<string, { readonly default?: unknown }> }
  const defaults = Object.entries(properties).flatMap(([name, one]) => ('default' in one ? [[name, one.default]] : []))
  return { ...Object.fromEntries(defaults), ...args }
}

function contextOf(sessionId: string, scene: BrowserScene): ToolContext {
  const { isTainted: tainted } = scene
  const subject = { sessionId, platform: 'cli', agentPath: ['root'], origin: 'model', tainted } as const
  return {
    isTainted: tainted,
    signal: new AbortController().signal,
    sessionId,
    callId: 'call',
    agentPath: ['root'],
    permit: async (action: Action, { mayAsk = true } = {}): Promise<Permit> => {
      scene.requested.push(action)
      if (scene.denies(action)) throw new HermesError('Not permitted (test): denied.', { code: 'policy.denied' })
      return scene.answers === null
        ? await allowed(await createAllowAllPolicy().decide(action, subject))
        : await decided(scene, action, { subject, mayAsk })
    },
    progress: () => undefined,
    ask: async () => {
      const text = scene.typedSecrets.shift()
      return text === undefined ? { type: 'unanswered', reason: 'nobody' } : { type: 'answered', text }
    },
  } as Partial<ToolContext> as ToolContext
}

function allowed(decision: Decision): Permit {
  if (decision.type === 'allow') return decision.permit
  const why = decision.type === 'deny' ? decision.reason : 'nobody answers.'
  throw new HermesError(`Not permitted: ${why}`, { code: 'policy.denied' })
}

/** As the policy of a home decides, with the person of the scene behind it. */
async function decided(
  scene: BrowserScene,
  action: Action,
  { subject, mayAsk }: { readonly subject: Subject; readonly mayAsk: boolean },
): Promise<Permit> {
  const { folder: home } = scene
  const policy = createPolicy({ home, userHome: home, mode: 'ask', workspace: [home], network: NETWORK })
  policy.listen(subject.sessionId, (id, question) => {
    scene.questions.push(question.summary)
    void policy.answer(id, scene.answers!(question))
  })
  const decision = await policy.decide(action, subject, { mayAsk })
  if (decision.type !== 'ask') return allowed(decision)
  const outcome = await policy.settled(decision.approvalId)
  if (outcome.type === 'allow') return outcome.permit
  throw new HermesError('Not permitted: the person said no.', { code: 'policy.denied' })
}

function startOnDescriptors(argv: readonly string[]): { readonly program: RunningProgram; readonly pid: number } {
  const script = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...argv], { stdio: 'pipe', detached: true })
  const ended = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  child.stdin.on('error', () => undefined)
  const kill = async () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {}
    await ended
  }
  return {
    program: { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, kill },
    pid: child.pid!,
  }
}
