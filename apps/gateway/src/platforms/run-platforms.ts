// The chat platforms of a gateway while it runs: heard, answered, drained.

import { basename, join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { type Clock, errorLine, HermesError, isAbort, knownTimeZone, type Logger, systemClock } from '@hermes/contracts'
import type { EventReader, OpenRequest, SessionHost } from '@hermes/host'
import {
  Breaker,
  ChatStore,
  createAccess,
  createPairings,
  namedFiles,
  openAliases,
  Reconnection,
  SESSION_MAIL,
  sendOutbox,
  targetOf,
} from '@hermes/platform'
import { type ChatVariables, type Runtime, trustQuestion } from '@hermes/runtime'
import type { Storage } from '@hermes/storage'
import { Bubbles } from './bubbles.js'
import { ChatCommandLine } from './chat-commands.js'
import { type ChatShows, ChatView } from './chat-view.js'
import type { ChatWorkerOptions } from './chat-worker.js'
import { Dispatcher } from './dispatcher.js'
import { requireEvent } from './foreign-event.js'
import { pauseBetween } from './human-delay.js'
import { createMediaCache } from './media-cache.js'
import { mirror } from './mirror.js'
import { type ChannelOverride, type ConfiguredPlatform, lockAccount } from './open-platforms.js'
import { OutgoingFiles } from './outgoing-files.js'
import { PausablePlatform } from './pausable-platform.js'
import { hearing, type PlatformReport } from './platform-health.js'
import { changePause, PlatformPauses, pausedPlatforms } from './platform-pause.js'
import { isStale, resetIn } from './session-reset.js'
import { createTranscribe } from './transcription.js'
import { Wake } from './wake.js'

/** What is over goes after so long. */
const KEEP_SENT_MS = 7 * 24 * 3_600_000
const PRUNE_EVERY_MS = 6 * 3_600_000
/** What was answered gets a moment to be sent. */
const FLUSH_MS = 3_000
const SEE_EVERY_MS = 1_000
const MOST_ERROR_CHARS = 300
/** Words for a chat that is none of these platforms wait for a gateway that has it. */
const LOOK_AGAIN_MS = 60_000

/** Options of {@link runPlatforms}. */
interface RunPlatformsOptions {
  readonly home: string
  readonly userHome: string
  readonly runtime: Runtime
  readonly host: SessionHost
  readonly request: Omit<
    OpenRequest,
    'platform' | 'session' | 'sessionId' | 'user' | 'chatKey' | 'isGroup' | 'deliverTo'
  > & {
    readonly cwd: string
  }
  /** Of the process and of `.env`: keys of services that chats use. */
  readonly variables: ChatVariables
  readonly logger: Logger
}

/** Platforms that are connected. */
export interface RunningPlatforms {
  /** Takes a delivery by webhook; `null` for a platform that takes none. */
  receive(name: string, request: Request): Promise<Response> | null
  reports(): readonly PlatformReport[]
  /** Resolves when a platform is doing otherwise, or when the signal fires. */
  changed(signal: AbortSignal): Promise<void>
  /** Hears nothing more, and waits for what is being answered until the signal fires. Call before the host is closed. */
  drain(signal: AbortSignal): Promise<void>
  /** Sends for a moment what was answered, and lets go of all. Call after the host was closed. */
  close(): Promise<void>
}

interface Connected {
  readonly platform: PausablePlatform
  readonly isForeign: boolean
  readonly dispatcher: Dispatcher
  readonly view: ChatView
  readonly breaker: Breaker
  readonly sending: Promise<void>
}

/**
 * Connects the platforms of a home.
 * @throws HermesError `gateway.account_taken`, `platform.bad_options`
 */
export async function runPlatforms(
  configured: readonly ConfiguredPlatform[],
  options: RunPlatformsOptions,
): Promise<RunningPlatforms> {
  const { runtime, host, userHome, logger } = options
  const clock = systemClock
  const storage = await runtime.storage()
  const aliases = runtime.config.privacy.redact_pii ? await openAliases(storage.meta) : null
  const [stopSending, stopOpening] = [new AbortController(), new AbortController()]
  const releases: (() => void)[] = []
  const connected: Connected[] = []
  /** Foreign ones that could not be opened yet, by name. */
  const broken = new Map<string, PlatformReport>()
  const reconnections = new Map<string, Reconnection>()
  const [wake, changes] = [new Wake(), new Wake()]
  const pauses = new PlatformPauses(logger)
  const reader = await host.subscribe()
  const letGo = async (...loops: readonly Promise<void>[]) => {
    for (const { view } of connected) view.close()
    stopSending.abort(new DOMException('The gateway stops.', 'AbortError'))
    await Promise.all([reader.return(), ...loops, ...connected.map(({ sending }) => sending)])
    for (const release of releases) release()
  }
  const reports = () => [
    ...connected.map(({ platform, dispatcher, breaker }) => ({
      ...{ name: platform.name, state: platform.state, heardAtMs: platform.heardAtMs, atWork: dispatcher.atWork },
      sending: breaker.state,
    })),
    ...broken.values(),
  ]
  /** Opens one and counts it in; a foreign one that cannot be opened is reported, and `null`. */
  const openOne = async (one: ConfiguredPlatform): Promise<Connected | null> => {
    const { name } = one
    const reconnection = reconnections.get(name) ?? new Reconnection(clock)
    reconnections.set(name, reconnection)
    const create = () =>
      one.create({ fetchTo: (address) => runtime.fetchTo(address), keeper: keeperOf(storage, one), clock, logger })
    let release: (() => void) | null = null
    try {
      release = await lockAccount(one, userHome)
      const platform = new PausablePlatform(await create(), create)
      const masked: ChatWorkerOptions['masked'] = (user) => aliases?.userOf(name, user) ?? user
      const signal = stopSending.signal
      const opened = open({ one, platform, storage, masked, wake, clock, reports, signal }, options)
      releases.push(release)
      broken.delete(name)
      connected.push(opened)
      return opened
    } catch (error) {
      release?.()
      const isTaken = HermesError.isInstance(error) && error.code === 'gateway.account_taken'
      if (!one.isForeign || (isTaken && !broken.has(name))) throw error
      const line = errorLine(error).slice(0, MOST_ERROR_CHARS)
      const retryAtMs = clock.now() + reconnection.failed(line, { retryAfterMs: null })
      const { failures } = reconnection
      if (failures === 1) logger.error(`${name}: cannot be opened, and all else goes on without it: ${line}`)
      broken.set(name, {
        name,
        state: { type: 'waiting', error: line, retryAtMs, failures },
        heardAtMs: null,
        atWork: 0,
      })
      changes.ring()
      return null
    }
  }
  const connect = ({ platform, isForeign, dispatcher }: Connected) =>
    platform.connect({
      hear: async (event) => {
        if (isForeign) requireEvent(event, platform.name)
        await dispatcher.hear(event)
      },
      onState: (state) => {
        const level = state.type === 'failed' ? 'error' : state.type === 'waiting' ? 'warn' : 'info'
        const why = 'error' in state ? { error: state.error } : {}
        logger[level](`${platform.name}: ${state.type}`, why)
        changes.ring()
      },
    })
  try {
    for (const one of configured) {
      for (const warning of one.warnings) logger.warn(`${one.name}: ${warning}`)
      await openOne(one)
    }
    await pauses.apply(
      storage.meta,
      connected.map(({ platform }) => platform),
    )
    await pauses.settled()
    // Before anything is heard, so that a store that cannot be read stops all of them.
    for (const { dispatcher } of connected) await dispatcher.recover()
  } catch (error) {
    await Promise.all(connected.map(({ dispatcher }) => dispatcher.drain(AbortSignal.abort())))
    await letGo()
    throw error
  }
  const showing = showAll(reader, connected, logger)
  for (const one of connected) connect(one)
  const looking = { clock, logger, signal: stopSending.signal }
  const seeing = seeAnswers(storage, connected, looking)
  const tryNow = (name: string) => {
    const report = broken.get(name)
    if (report?.state.type === 'waiting') broken.set(name, { ...report, state: { ...report.state, retryAtMs: 0 } })
  }
  const pausing = seePauses(storage, connected, { ...looking, pauses, tryNow })
  const begin = async (one: Connected) => {
    await one.platform.setPaused((await pausedPlatforms(storage.meta)).has(one.platform.name))
    await one.dispatcher.recover()
    if (!stopOpening.signal.aborted) connect(one)
  }
  const isDue = ({ name }: ConfiguredPlatform) => {
    const { state } = broken.get(name) ?? {}
    return state?.type === 'waiting' && state.retryAtMs <= clock.now()
  }
  const opening = openLater(
    { due: () => configured.filter(isDue), open: openOne, begin },
    { ...looking, signal: stopOpening.signal },
  )
  const pruning = prune(storage, looking)
  return {
    reports,
    receive: (name, request) =>
      connected.find(({ platform }) => platform.name === name)?.platform.receive?.(request) ?? null,
    changed: changes.wait,
    drain: async (signal) => {
      stopOpening.abort(new DOMException('The gateway stops.', 'AbortError'))
      await opening
      await Promise.all(
        connected.map(async ({ platform, dispatcher }) => {
          await platform.close()
          await dispatcher.drain(signal)
        }),
      )
    },
    close: async () => {
      await untilSent(storage, connected, clock)
      stopOpening.abort(new DOMException('The gateway stops.', 'AbortError'))
      await letGo(opening, pruning, seeing, pausing, showing)
    },
  }
}

interface Opening {
  readonly one: ConfiguredPlatform
  readonly platform: PausablePlatform
  readonly storage: Storage
  readonly masked: ChatWorkerOptions['masked']
  readonly wake: Wake
  readonly clock: Clock
  readonly reports: () => readonly PlatformReport[]
  readonly signal: AbortSignal
}

function open(
  { one, platform, storage, masked, wake, clock, reports, signal }: Opening,
  options: RunPlatformsOptions,
): Connected {
  const { home, runtime, host, request, variables, logger } = options
  const { config, people } = runtime
  const chats = new ChatStore({
    meta: storage.meta,
    personOf: people.personOf,
    keys: {
      groupSessionsPerUser: config.group_sessions_per_user,
      threadSessionsPerUser: config.thread_sessions_per_user,
    },
  })
  const pairings = createPairings({ folder: join(home, 'pairing'), clock })
  const personOf = (user: string) => people.personOf({ platform: platform.name, user })
  const { streaming } = config
  const settings = { ...streaming, intervalMs: streaming.edit_interval * 1_000, threshold: streaming.buffer_threshold }
  const redact = (text: string) => namedFiles(runtime.redact(text)).text
  const bubbles = new Bubbles({ platform, redact, settings, clock, logger })
  // Whole at once where there is one line, then not more often than answers grow.
  const ofCalls = {
    enabled: true,
    transport: 'edit' as const,
    intervalMs: settings.intervalMs,
    threshold: 1,
    cursor: '',
  }
  const callBubbles = new Bubbles({ platform, redact, settings: ofCalls, clock, logger })
  const shows = showsOn(platform.name, config.display)
  const common = { platform, written: wake.ring, clock, logger }
  const workerOf = (sessionId: string) => dispatcher.workerOf(sessionId)
  const media = createMediaCache({ folder: join(homeLayout(home).cache, 'media'), clock })
  const files = new OutgoingFiles({
    ...{ meta: storage.meta, policy: runtime.policy, workspace: request.cwd, nowMs: () => clock.now() },
    maxBytes: platform.abilities.files?.maxBytes ?? 0,
    outputs: join(home, 'output'),
    chatOf: async (sessionId) =>
      workerOf(sessionId)?.chat ??
      (await chats.list(platform.name)).find((chat) => chat.sessionId === sessionId) ??
      null,
    tell: async (chat, key, body) => {
      await storage.outbox.add([{ key, platform: platform.name, target: targetOf(chat), body: { ...body } as never }])
      wake.ring()
    },
  })
  const dispatcher = new Dispatcher({
    ...{ ...common, chats, storage, host, request, pairings, masked },
    access: createAccess({
      ...{ platform: platform.name, settings: one.access, pairings, personOf },
      firstIdOf: (chatId) => chats.firstIdOf(platform.name, chatId),
    }),
    verdict: (own, signal) => runtime.extensions.outside.verdict(own, signal),
    commands: new ChatCommandLine({ runtime, host, cwd: request.cwd }),
    files,
    keep: media.keep,
    transcribe: createTranscribe({
      ...{ settings: config.stt, variables, policy: runtime.policy },
      fetchTo: (address) => runtime.fetchTo(address),
    }),
    echoesTranscripts: config.stt.echo_transcripts,
    shows,
    busyMode: config.display.busy_input_mode,
    requiresMention: one.requiresMention,
    timeZone: config.gateway.message_timestamps.enabled ? knownTimeZone(config.timezone) : null,
    overrides: ({ id, type }) => ({
      ...overridesFor(one.overrides[id], request),
      ...(type === 'dm' ? {} : inGroup(config.groups, request)),
    }),
    isStale: (type, heardAtMs, nowMs) =>
      isStale(resetIn(config.session_reset, { platform: platform.name, type }), { heardAtMs, nowMs }),
    platformsNow: () =>
      reports()
        .map((report) => `${report.name}: ${hearing(report, clock.now()).text}`)
        .join('\n'),
    changePause: async (words) => {
      const names = reports().map(({ name }) => name)
      return (await changePause(storage.meta, clock, { words, names, from: platform.name })).text
    },
    projectQuestion: async () =>
      request.cwd === undefined ? null : trustQuestion(await runtime.trust.look(request.cwd)),
  })
  const view = new ChatView({
    ...common,
    ...{ bubbles, callBubbles, shows, workerOf },
    showsTyping: one.showsTyping,
    tellsEveryMs: config.agent.gateway_notify_interval * 1_000,
  })
  const messageIdOf = (body: Readonly<Record<string, unknown>>) =>
    typeof body['messageId'] === 'string' ? body['messageId'] : null
  const breaker = new Breaker(clock)
  const sending = sendOutbox(
    {
      ...common,
      breaker,
      isPaused: () => platform.isPaused,
      outbox: storage.outbox,
      replies: one.repliesTo,
      pauseMs: ({ body }) => {
        const id = messageIdOf(body)
        return one.pause && id !== null && !bubbles.isShown(id) ? pauseBetween(one.pause, Math.random()) : 0
      },
      shownOf: (message, text) => files.shownOf(message, text),
      loadFile: (_message, path) => files.load(path),
      written: wake.wait,
      bubbleOf: async ({ body }) => {
        const id = messageIdOf(body)
        return id === null ? null : bubbles.take(id)
      },
      failed: ({ key, target, body }, line) => {
        const id = messageIdOf(body)
        if (id !== null) bubbles.forget(id)
        if (typeof body['file'] !== 'string') return undefined
        const text = `📎 ${basename(body['file'])} was not sent: ${line}`
        const note = { key: `${key}:failed`, platform: platform.name, target, body: { text, markup: 'plain' } }
        return storage.outbox.add([note])
      },
      arrived: (message) => mirror(message, { chats, inbox: storage.inbox, sessions: storage.sessions }),
      sent: ({ body }) => {
        const id = messageIdOf(body)
        if (id !== null) bubbles.forget(id)
        wake.ring()
      },
    },
    signal,
  )
  return { platform, isForeign: one.isForeign, dispatcher, view, breaker, sending }
}

/** What the chats of a platform show beside answers. */
function showsOn(name: string, display: Runtime['config']['display']): ChatShows {
  const { tool_progress: calls = 'off', runtime_footer: hasFooter } = display.platforms[name] ?? {}
  const { runtime_footer: footer, background_process_notifications: notified } = display
  const news = notified === 'off' || notified === 'error' ? notified : 'all'
  return { calls, hasFooter: hasFooter ?? footer.enabled, footerFields: footer.fields, news }
}

/** From the strictest on. */
const MODES = ['deny', 'park', 'ask', 'approve'] as const satisfies readonly OpenRequest['permissions'][]

/** What others write there is let go by itself as seldom as either setting says. */
function inGroup(
  { without_toolsets: withoutToolsets, unattended_mode: mode }: Runtime['config']['groups'],
  { permissions }: Pick<OpenRequest, 'permissions'>,
): Partial<OpenRequest> {
  const permitted = MODES.find((one) => one === mode || one === permissions)!
  return { withoutToolsets, permissions: permitted }
}

/** A provider of its own is reached where the catalogue or config.yaml has it, not where all others are. */
function overridesFor(channel: ChannelOverride | undefined, request: Partial<OpenRequest>): Partial<OpenRequest> {
  if (!channel) return {}
  const { model, provider, system_prompt: words, skills = [] } = channel
  const toRead =
    skills.length === 0 ? '' : `In this chat, read these skills before your first answer: ${skills.join(', ')}.`
  const instructions = [request.instructions, words, toRead].filter(Boolean).join('\n\n')
  return {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider, baseUrl: undefined }),
    ...(instructions === '' ? {} : { instructions }),
  } as Partial<OpenRequest>
}

/** Keeps how far a platform was heard, for the account that it is. */
function keeperOf({ meta }: Storage, { name, fingerprint }: ConfiguredPlatform) {
  const key = `platform.heard:${name}:${fingerprint}`
  return { get: () => meta.get(key), set: (text: string) => meta.set(key, text) }
}

/** Until the reader is left. Never rejects. */
async function showAll(reader: EventReader, connected: readonly Connected[], logger: Logger): Promise<void> {
  try {
    for await (const event of reader) for (const { view } of connected) view.show(event)
  } catch (error) {
    if (!isAbort(error)) logger.error('Chats do not see any more what is under way.', { error: errorLine(error) })
  }
}

/** Waits a moment for what stands in the outbox and is due. */
async function untilSent({ outbox }: Storage, connected: readonly Connected[], clock: Clock): Promise<void> {
  const untilMs = clock.now() + FLUSH_MS
  const isDue = async ({ platform, breaker }: Connected) => {
    if (platform.isPaused || !breaker.lets) return false
    const dueMs = await outbox.nextDue(platform.name)
    return dueMs !== null && dueMs <= untilMs
  }
  while (clock.now() < untilMs) {
    if (!(await Promise.all(connected.map(isDue))).includes(true)) return
    await clock.sleep(50)
  }
}

/** How it is looked again and again, until the signal fires. */
interface Looking {
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Looks for answers, and words of other sessions, that came from other processes. Never rejects. */
async function seeAnswers(
  { approvals, questions, meta }: Storage,
  connected: readonly Connected[],
  { clock, logger, signal }: Looking,
): Promise<void> {
  /** When chats were looked through in vain, by what was written to which of their sessions. */
  let inVain: ReadonlyMap<string, number> = new Map()
  while (!signal.aborted) {
    try {
      const [ofApprovals, ofQuestions] = [await approvals.pending(), await questions.pending()]
      for (const { dispatcher } of connected) await dispatcher.seeAnswers(ofApprovals, ofQuestions)
      const looked = new Map<string, number>()
      for (const { key, value } of await meta.list(SESSION_MAIL)) {
        const mail = `${key} ${value}`
        const atMs = inVain.get(mail)
        if (atMs !== undefined && clock.now() - atMs < LOOK_AGAIN_MS) looked.set(mail, atMs)
        else if (await wakes(connected, key.slice(SESSION_MAIL.length))) await meta.set(key, null)
        else looked.set(mail, clock.now())
      }
      inVain = looked
    } catch (error) {
      logger.warn('Answers could not be looked for.', { error: errorLine(error) })
    }
    await clock.sleep(SEE_EVERY_MS, signal).catch(() => undefined)
  }
}

/** Has platforms rest, and go on, as people want it; one that takes long to go on holds up no answers. Never rejects. */
async function seePauses(
  { meta }: Storage,
  connected: readonly Connected[],
  {
    pauses,
    tryNow,
    clock,
    logger,
    signal,
  }: Looking & {
    readonly pauses: PlatformPauses
    /** For one that could not be opened. */
    readonly tryNow: (name: string) => void
  },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const tried = await pauses.apply(
        meta,
        connected.map(({ platform }) => platform),
      )
      for (const { platform, breaker } of connected) if (tried.includes(platform.name)) breaker.tryNow()
      for (const name of tried) tryNow(name)
    } catch (error) {
      logger.warn('Which platforms are to rest could not be looked for.', { error: errorLine(error) })
    }
    await clock.sleep(SEE_EVERY_MS, signal).catch(() => undefined)
  }
}

/** Opens those that could not be opened as the gateway started, once each is due, until the signal fires. Never rejects. */
async function openLater(
  late: {
    readonly due: () => readonly ConfiguredPlatform[]
    readonly open: (one: ConfiguredPlatform) => Promise<Connected | null>
    readonly begin: (one: Connected) => Promise<void>
  },
  { clock, logger, signal }: Looking,
): Promise<void> {
  /** Opened, and not connected yet: what they heard before cannot be read. */
  let unread: readonly Connected[] = []
  const beginAll = async (all: readonly Connected[]) => {
    const begun = await Promise.all(
      all.map(async (one) => {
        try {
          await late.begin(one)
          return null
        } catch (error) {
          logger.warn(`${one.platform.name}: is not connected yet.`, { error: errorLine(error) })
          return one
        }
      }),
    )
    return begun.filter((one) => one !== null)
  }
  while (!signal.aborted) {
    const opened = await Promise.all(late.due().map((one) => late.open(one)))
    unread = await beginAll([...unread, ...opened.filter((one) => one !== null)])
    await clock.sleep(SEE_EVERY_MS, signal).catch(() => undefined)
  }
}

async function wakes(connected: readonly Connected[], sessionId: string): Promise<boolean> {
  for (const { dispatcher } of connected) if (await dispatcher.wake(sessionId)) return true
  return false
}

/** Forgets what was sent long ago. Never rejects. */
async function prune({ outbox }: Storage, { clock, logger, signal }: Looking): Promise<void> {
  while (!signal.aborted) {
    await outbox
      .prune(clock.now() - KEEP_SENT_MS)
      .catch((error: unknown) =>
        logger.warn('What was sent long ago could not be forgotten.', { error: errorLine(error) }),
      )
    await clock.sleep(PRUNE_EVERY_MS, signal).catch(() => undefined)
  }
}
