import { appendPermission, type HermesConfig, homeLayout } from '@hermes/config'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { ModelClient } from '@hermes/contracts/model'
import type {
  ActingSkill,
  Action,
  ApprovalStore,
  AuditRecord,
  AuditSink,
  StartedLine,
  Subject,
} from '@hermes/contracts/policy'
import {
  createPolicy,
  createRedactor,
  type EvaluationSettings,
  lineOf,
  type PermissionRule,
  type Reviewer,
  type RevocablePolicy,
  skillOf,
} from '@hermes/safety'
import type { Explanation } from '@hermes/safety/explain'
import { skillPrograms } from '@hermes/skills'
import type { Storage } from '@hermes/storage'
import { blockedSites, networkOf } from '../home/network-settings.js'
import { toPath } from '../home/settings.js'
import { digestFiles, identifyPrograms } from './deciding-files.js'

/** The policy of a home, with what it goes by and what it leaves. */
export interface HomePolicy {
  readonly policy: RevocablePolicy
  readonly settings: EvaluationSettings
  /** What would be decided, and why; asks nobody and keeps nothing. */
  explain(action: Action, subject: Subject): Promise<Explanation>
  /** Rules about tools that none of `toolNames` is. */
  rulesOfNoTool(toolNames: readonly string[]): Promise<readonly string[]>
  /** Writes down the decisions that are waiting. Never rejects. */
  flush(): Promise<void>
}

/** Options of {@link openHomePolicy}. */
interface HomePolicyOptions {
  readonly home: string
  readonly userHome: string
  readonly cwd: string
  /** Folders that programs are looked for in, as in `PATH`. */
  readonly path: string
  readonly yolo: boolean
  readonly config: Pick<HermesConfig, 'approvals' | 'auxiliary' | 'command_allowlist' | 'security' | 'terminal'>
  readonly rules: readonly PermissionRule[]
  /** The same as they are now. Default: they stay what they are. */
  readonly currentRules?: () => Promise<readonly PermissionRule[]>
  /** What configuration forbids by now, given what it did. Default: that. */
  readonly currentDenials?: (known: readonly string[]) => () => Promise<readonly string[]>
  /** Absolute folders, outside of which no tool writes a file; none for no such limit. */
  readonly writeRoots: readonly string[]
  /** Opened by the first decision worth writing down, and by the first question. */
  readonly storage: () => Promise<Pick<Storage, 'audit' | 'approvals'>>
  /** Takes the secrets of the home out of a text; called once, when there is the first text. */
  readonly redactor: () => (text: string) => string
  /** The skills of others whose programs act as them, for who works in an absolute folder. Default: those that are installed. */
  readonly skills?: (workspace: string, line: StartedLine) => Promise<readonly ActingSkill[]>
  /** The model that reviews questions of a session when `approvals.mode` is `smart`. */
  readonly reviewModel: (sessionId: string) => Promise<ModelClient>
  readonly clock: Clock
  readonly logger: Logger
}

const POLL_MS = 1_000
const REVIEW_SECONDS = 30

/** Opens the policy of a home: its questions and decisions are kept in the store. */
export function openHomePolicy(options: HomePolicyOptions): HomePolicy {
  const { home, userHome, cwd, yolo, config, rules, currentRules, currentDenials, writeRoots, storage, clock, logger } =
    options
  const settings: EvaluationSettings = {
    mode: yolo || config.approvals.mode === 'off' ? 'off' : 'ask',
    rules,
    home,
    userHome,
    workspace: [cwd],
    writeRoots,
    readable: config.terminal.isolation_read.map((path) => toPath(path, userHome, cwd)),
    denyGlobs: [...config.approvals.deny, ...blockedSites(config)],
    network: networkOf(config),
    contained: containedBackends(config),
    allowlist: config.command_allowlist,
  }
  const audit = new LazyAudit(options)
  const skills = options.skills ?? (() => skillPrograms(homeLayout(home).skills))
  const policy = createPolicy({
    ...settings,
    ...(currentRules ? { currentRules } : {}),
    ...(currentDenials ? { currentDenyGlobs: currentDenials(settings.denyGlobs ?? []) } : {}),
    skills,
    digestFiles: (paths, cwd) => digestFiles(paths, { cwd, userHome }),
    identifyPrograms: (names, folder) => identifyPrograms(names, { path: options.path, cwd: folder }),
    audit,
    approvals: lazyApprovals(async () => (await storage()).approvals),
    approvalTimeoutMs: config.approvals.timeout * 1000,
    approvalPollMs: POLL_MS,
    ...(!yolo && config.approvals.mode === 'smart' ? { reviewer: lazyReviewer(options) } : {}),
    onAlways: ({ pattern }) => appendPermission({ home, pattern, decision: 'allow' }),
    redact: lazyRedact(options.redactor),
    clock,
    logger,
  })
  const explaining = () => import('@hermes/safety/explain')
  return {
    policy,
    settings,
    explain: async (action, subject) => {
      const skill =
        action.type === 'spawn'
          ? skillOf(action, await skills(subject.workspace ?? cwd, lineOf(action)), subject)
          : null
      return (await explaining()).explainAction(action, skill === null ? subject : { ...subject, skill }, settings)
    },
    rulesOfNoTool: async (toolNames) => (await explaining()).rulesOfNoTool(settings, toolNames),
    flush: () => audit.flush(),
  }
}

const CLOUDS: readonly string[] = ['modal', 'daytona', 'vercel_sandbox']

/** The backend, where it is a machine that is made for the agent and changes no folder of this one. */
function containedBackends({ terminal }: Pick<HermesConfig, 'terminal'>): readonly string[] {
  return isContained(terminal) ? [terminal.backend] : []
}

function isContained(terminal: HermesConfig['terminal']): boolean {
  const { backend, docker_volumes: volumes, docker_extra_args: extra, sync_folders: synced } = terminal
  if (backend === 'docker') return !terminal.docker_mount_cwd_to_workspace && volumes.length === 0 && extra.length === 0
  // What changes over there comes back.
  if (CLOUDS.includes(backend)) return synced.every((folder) => folder.endsWith(':ro'))
  return backend === 'singularity'
}

/** Texts of which is kept what they are without secrets. */
const KNOWN_TEXTS = 16

/** Known values go, and so does what looks like a secret. */
function lazyRedact(redactor: HomePolicyOptions['redactor']): (text: string) => string {
  const { redactShapes } = createRedactor({ secrets: [] })
  let redactValues: ((text: string) => string) | null = null
  // Calls that are made side by side are told in the same few words, and looking for shapes takes longer than deciding.
  const known = new Map<string, string>()
  return (text) => {
    redactValues ??= redactor()
    const left = redactValues(text)
    const redacted = known.get(left) ?? redactShapes(left)
    if (known.size >= KNOWN_TEXTS) known.clear()
    known.set(left, redacted)
    return redacted
  }
}

/** The task is read, and the model chosen, when there is the first question. */
function lazyReviewer({ reviewModel, config, logger }: HomePolicyOptions): Reviewer {
  const { timeout = REVIEW_SECONDS } = config.auxiliary['approval'] ?? {}
  const onFailure = (error: unknown) =>
    logger.warn('No model could review a request; it is asked instead.', { error: errorLine(error) })
  return {
    review: async (question, { signal: stopped } = {}) => {
      const { createModelReviewer } = await import('@hermes/safety/model-reviewer')
      const clientFor = () => reviewModel(question.subject.rootSessionId ?? question.subject.sessionId)
      const inTime = AbortSignal.timeout(timeout * 1_000)
      const signal = stopped ? AbortSignal.any([stopped, inTime]) : inTime
      const { smart_policy: guidance } = config.approvals
      return createModelReviewer({ clientFor, guidance, onFailure }).review(question, { signal })
    },
  }
}

function lazyApprovals(open: () => Promise<ApprovalStore>): ApprovalStore {
  return {
    put: async (approval) => (await open()).put(approval),
    get: async (id) => (await open()).get(id),
    pending: async (sessionId) => (await open()).pending(sessionId),
  }
}

/** How long a decision may wait to be written down together with others. */
const DELAY_MS = 100
/** Of a store that takes nothing, no more than this is kept for later. */
const MAX_WAITING = 10_000

/** Takes decisions in at once and writes them down when there is time, in their order. */
class LazyAudit implements AuditSink {
  readonly #options: Pick<HomePolicyOptions, 'storage' | 'logger'>
  #waiting: AuditRecord[] = []
  #writing: Promise<void> = Promise.resolve()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(options: Pick<HomePolicyOptions, 'storage' | 'logger'>) {
    this.#options = options
  }

  record(entry: AuditRecord): void {
    this.#waiting.push(entry)
    // The process may end before it fires: whoever closes the home flushes.
    this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS).unref()
  }

  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const records = this.#waiting
    if (records.length === 0) return
    this.#waiting = []
    try {
      const { audit } = await this.#options.storage()
      await audit.append(records)
    } catch (error) {
      this.#waiting = [...records, ...this.#waiting].slice(-MAX_WAITING)
      this.#options.logger.warn('Decisions could not be written into the audit trail yet.', { error: errorLine(error) })
    }
  }
}
