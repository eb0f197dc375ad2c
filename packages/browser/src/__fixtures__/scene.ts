import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { Tool, ToolContext } from '@hermes/contracts/tool'
import { createAllowAllPolicy } from '@hermes/safety'
import { BrowserSessions } from '../session/sessions.js'
import { type BrowserSettings, DEFAULT_SETTINGS } from '../settings.js'
import { actTools } from '../tools/act-tools.js'
import { fileTools } from '../tools/file-tools.js'
import { lookTools } from '../tools/look-tools.js'
import { visionTool } from '../tools/vision-tool.js'

/** The network that counts as public here; everything else of the loopback network is near. */
export const PUBLIC = '127.0.0.2'

/** A browser of this machine with its tools, as sessions have them. */
export interface BrowserScene extends AsyncDisposable {
  readonly sessions: BrowserSessions
  readonly folder: string
  /** What permits were requested for, in their order. */
  readonly requested: Action[]
  /** Says what is denied; default nothing. */
  denies: (action: Action) => boolean
  settings: BrowserSettings
  /** The group of the browser that was started last. */
  pid: number | null
  call(name: string, args?: object, sessionId?: string): Promise<string>
}

/** Starts nothing before a page is opened. */
export async function openScene(): Promise<BrowserScene> {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-browser-'))
  const requested: Action[] = []
  const scene: BrowserScene = {
    folder,
    requested,
    denies: () => false,
    settings: DEFAULT_SETTINGS,
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
        readFile: (path) => readFile(path),
        showImage: async (bytes, { question }) => `${question} ${bytes.length}`,
        proxies: null,
        network: { allowRanges: [`${PUBLIC}/32`] },
        resolve: async (name) => {
          if (name === 'rebind.test') return [{ address: '127.0.0.1', family: 4 }]
          if (name.endsWith('.test')) return [{ address: PUBLIC, family: 4 }]
          if (name === 'localhost') return [{ address: '127.0.0.1', family: 4 }]
          throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
        },
        clock: systemClock,
        logger: silentLogger,
      },
      () => scene.settings,
    ),
    async call(name, args = {}, sessionId = 'one') {
      const tool = tools.find((one) => one.name === name)!
      const actions = tool.actions?.(args, { sessionId } as never) ?? []
      const context = contextOf(sessionId, scene)
      for (const action of actions) await context.permit(action)
      const result = await tool.execute(withDefaults(tool, args), context)
      return typeof result === 'string' ? result : (result.text ?? '')
    },
    async [Symbol.asyncDispose]() {
      await scene.sessions.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  const tools: readonly Tool[] = [
    ...lookTools(scene.sessions),
    ...actTools(scene.sessions),
    ...fileTools(scene.sessions, { readFile: (path) => readFile(path) }),
    visionTool(scene.sessions, { showImage: async (bytes, { place }) => `${place} ${bytes.length}` }),
  ]
  return scene
}

function withDefaults({ parameters }: Tool, args: object): object {
  const { properties = {} } = parameters as { readonly properties?: Record<string, { readonly default?: unknown }> }
  const defaults = Object.entries(properties).flatMap(([name, one]) => ('default' in one ? [[name, one.default]] : []))
  return { ...Object.fromEntries(defaults), ...args }
}

function contextOf(sessionId: string, scene: BrowserScene): ToolContext {
  const policy = createAllowAllPolicy()
  const subject = { sessionId, platform: 'cli', agentPath: ['root'], origin: 'model', tainted: false } as const
  return {
    signal: new AbortController().signal,
    sessionId,
    callId: 'call',
    agentPath: ['root'],
    permit: async (action: Action): Promise<Permit> => {
      scene.requested.push(action)
      if (scene.denies(action)) throw new HermesError('Not permitted (test): denied.', { code: 'policy.denied' })
      const decision = await policy.decide(action, subject)
      if (decision.type !== 'allow') throw new Error('The policy allows everything.')
      return decision.permit
    },
    progress: () => undefined,
    ask: async () => ({ type: 'unanswered', reason: 'nobody' }),
  } as Partial<ToolContext> as ToolContext
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
