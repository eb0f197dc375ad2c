// Every part that comes with Hermes, in one list: adding one adds a line here, and a folder or package.
import {
  cacheKeeper,
  createSessionId,
  isPlanning,
  platformChange,
  type ReferenceOptions,
  references,
  runtimeState,
  standardExtensions,
  verifyOnStop,
} from '@hermes/agent-core'
import type { HomeBrowser } from '@hermes/browser'
import { checkpointCommands, type HomeCheckpoints } from '@hermes/checkpoints/extension'
import { explainUsage, type GoalOptions, goals, personalities, quickCommands, sessionCommands } from '@hermes/commands'
import type { HermesConfig, TrustStore } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import type { Extension, HookEvent } from '@hermes/contracts/extension'
import { type HomeHooks, hooksExtension } from '@hermes/hooks'
import type { HomeMcp } from '@hermes/mcp'
import type { StagedNotes } from '@hermes/memory'
import { memoryRecall } from '@hermes/memory/extension'
import { usageCommand } from '@hermes/models'
import { handoffCommand } from '@hermes/platform/extension'
import { type HomePlugins, pluginsExtension } from '@hermes/plugins'
import type { Proxies } from '@hermes/safety'
import { type IsolationSupport, isolationNotice } from '@hermes/sandbox'
import type { HomeSkills } from '@hermes/skills'
import type { Storage } from '@hermes/storage'
import { learningCommand, learningHints } from '@hermes/storage/extension'
import { telemetry } from '@hermes/telemetry'
import { loopGuardOf } from '../agents/lineage.js'
import type { HomePlatforms } from '../chats/home-platforms.js'
import { documentText, referenceOptions } from '../context/reference-sources.js'
import { doctorCommand } from '../doctor/doctor-command.js'
import type { DoctorHome } from '../doctor/finding.js'
import { accountCommand } from '../home/account-command.js'
import { homeCommands } from '../home/home-commands.js'
import { mixtureCommand } from '../home/mixture-command.js'
import { networkOf } from '../home/network-settings.js'
import { profileCommand } from '../home/profile-command.js'
import { statusCommand } from '../home/status-command.js'
import type { HomeLongMemory } from '../memory/home-long-memory.js'
import type { HomeMemory } from '../memory/home-memory.js'
import { memoryCommand } from '../memory/memory-command.js'
import type { HomePolicy } from '../policy/home-policy.js'
import type { Runtime } from '../runtime.js'
import { ownHand } from '../trust/own-hand.js'
import { trustCommand } from '../trust/trust-command.js'
import { HERMES_VERSION } from '../version.js'

/** Where who writes works on the files of the workspace too. */
const AT_A_WORKSPACE: ReadonlySet<string> = new Set(['cli', 'acp'])

/** What the extensions of a home work with. */
interface HomeParts {
  readonly config: HermesConfig
  readonly checkpoints: HomeCheckpoints
  readonly mcp: HomeMcp
  readonly web: Extension
  readonly plugins: HomePlugins
  readonly browser: HomeBrowser
  readonly skills: HomeSkills
  /** Whether config.yaml leaves memory on. */
  readonly remembers: boolean
  readonly memoryOf: (person: string | null) => HomeMemory | null
  readonly stagedNotes: StagedNotes
  /** The memory beyond the files of whom a session serves; `null` where config.yaml names no provider. */
  readonly longMemoryOf: ((sessionId: string) => HomeLongMemory | null) | null
  readonly storage: () => Promise<Storage>
  /** Asked once extensions are set up. */
  readonly platforms: Pick<HomePlatforms, 'reached' | 'hintOf'>
  readonly proxies: Proxies | null
  readonly isolationSupport: IsolationSupport
  readonly permissions: HomePolicy
  readonly trust: TrustStore
  readonly hooks: HomeHooks
  readonly tools: Runtime['tools']
  readonly toolsets: Runtime['toolsets']
  readonly clock: Clock
  readonly logger: Logger
  /** The home itself, once it is open, and what it was opened with. */
  readonly runtime: () => Runtime
  readonly opened: DoctorHome & { readonly userHome: string; readonly cwd: string; readonly yolo?: boolean }
  readonly seesImages: NonNullable<ReferenceOptions['seesImages']>
  readonly describeImage: NonNullable<ReferenceOptions['describeImage']>
  readonly takes: NonNullable<ReferenceOptions['takes']>
  readonly askJudge: GoalOptions['askJudge']
  /** Writes down the calls of models that are not in the ledger yet. */
  readonly flushUsage: () => Promise<void>
  /** Tokens of the window of who answers. */
  readonly windowTokens: (event: HookEvent) => Promise<number>
  /** What a session has delegated and has not ended, a few words each. */
  readonly delegated: (event: HookEvent) => readonly string[]
}

/** The extensions that come with Hermes, for one home. */
export function builtInExtensions(parts: HomeParts): readonly Extension[] {
  const { config, checkpoints, remembers, longMemoryOf, storage, proxies, isolationSupport, logger } = parts
  const { coding_context: mode } = config.agent
  const git = (event: HookEvent) => mode === 'on' || AT_A_WORKSPACE.has(event.platform)
  const network = networkOf(config)
  const asksNobody = parts.opened.yolo === true || config.approvals.mode === 'off'
  return [
    // First: it stands around what the others do.
    telemetry({ version: HERMES_VERSION }),
    ...standardExtensions({ loopGuard: loopGuardOf(config) }),
    ...(config.prompt_caching.keep_warm ? [cacheKeeper()] : []),
    verifyOnStop(config.agent.verify_on_stop),
    learningHints({ storage }),
    memoryRecall({
      nudgeAfter: remembers ? config.memory.nudge_interval : 0,
      ...(longMemoryOf
        ? {
            recall: async (text, call) => (await longMemoryOf(call.sessionId)?.recall(text, call)) ?? [],
            keep: (turn) => longMemoryOf(turn.sessionId)?.keep(turn),
          }
        : {}),
    }),
    ...(mode === 'off' ? [] : [runtimeState({ delegated: parts.delegated, git })]),
    platformChange({ hintOf: (platform) => parts.platforms.hintOf(platform) }),
    references({
      ...referenceOptions({ windowTokens: parts.windowTokens, storage, proxies, network }),
      seesImages: parts.seesImages,
      describeImage: parts.describeImage,
      takes: parts.takes,
      readDocument: documentText(isolationSupport),
    }),
    isolationNotice({ terminal: config.terminal, isolationSupport, logger }),
    checkpoints.extension,
    ownHand(parts.trust),
    hooksExtension(parts.hooks, {
      cwd: parts.opened.cwd,
      policy: parts.permissions.policy,
      permissionMode: (entries) => (isPlanning(entries) ? 'plan' : asksNobody ? 'bypassPermissions' : 'default'),
    }),
    parts.mcp.extension,
    parts.web,
    pluginsExtension(parts.plugins),
    parts.browser.extension,
    parts.skills.extension,
    ...commandExtensions(parts),
  ]
}

/** What people type to Hermes itself; each from the part that owns its service. */
function commandExtensions(parts: HomeParts): readonly Extension[] {
  const { config, checkpoints, storage, permissions, tools, toolsets, clock, logger } = parts
  const { policy } = permissions
  return [
    sessionCommands({
      storage,
      tools,
      toolsets,
      policy,
      grants: policy,
      isAsking: () => config.approvals.mode !== 'off',
      newSessionId: () => createSessionId(clock.now()),
      clock,
    }),
    goals({ mostTurns: config.goals.max_turns, askJudge: parts.askJudge }),
    usageCommand({
      storage,
      settings: config,
      clock,
      explain: async (sessionId) => {
        await parts.flushUsage()
        return explainUsage(await storage(), sessionId)
      },
    }),
    checkpointCommands({ open: checkpoints.open, storage, policy, backend: config.terminal.backend }),
    doctorCommand(parts.runtime, parts.opened),
    profileCommand(parts.opened),
    accountCommand({ home: parts.opened.home, config }),
    mixtureCommand(config),
    homeCommands(parts.runtime, parts.opened),
    memoryCommand({ memoryOf: parts.memoryOf, staged: parts.stagedNotes }),
    statusCommand(parts.runtime, { home: parts.opened.home, clock }),
    trustCommand(parts.trust, parts.opened),
    learningCommand({ storage }),
    handoffCommand({
      platforms: () => parts.platforms.reached().map(({ name }) => name),
      storage,
      nowMs: () => clock.now(),
    }),
    personalities({ chosen: config.display.personality, own: config.personalities }),
    // Last: a name of Hermes stays what it is.
    quickCommands(config.quick_commands, (line) => logger.warn(line)),
  ]
}
