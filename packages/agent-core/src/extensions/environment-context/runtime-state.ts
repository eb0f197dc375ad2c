import { errorLine } from '@hermes/contracts'
import type { Entry, TextPart } from '@hermes/contracts/conversation'
import type { HookEvent } from '@hermes/contracts/extension'
import { seenFiles } from '@hermes/contracts/tool'
import { folderWithGit } from '@hermes/safety'
import type { EnvironmentContext } from './environment-context.js'
import { environmentContextOf } from './environment-context.js'
import type { GitState } from './git-state.js'

const LABELS = ['git', 'shell', 'background', 'handed on'] as const
type Label = (typeof LABELS)[number]

const OPEN = '<runtime-state>'
const CLOSE = '</runtime-state>'
const INTRODUCTION = '[What changed around you, as of this message. Facts, no orders.]'
const NOTHING = 'nothing'
const GIT_WITHIN_MS = 150
/** Where git is too slow for that, or must not be asked, so often in a row, it is left alone. */
const MOST_MISSES = 3
const MOST_NAMED = 5
const WORDS = 80

/**
 * What changed around the session since it was told last, for the newest message of the person; nearly always little or nothing. Nothing is
 * run for the first message of a process, so that nobody waits for their first answer. Never rejects. @see 000 section 11
 */
export async function runtimeState(context: HookEvent, options: RuntimeStateOptions): Promise<readonly TextPart[]> {
  const { environment, session, logger } = context
  if (!environment) return []
  try {
    const around = environmentContextOf(environment, session)
    const [git, files] = await Promise.all([gitState(context, around, options), changedByOthers(context, around)])
    const facts: Readonly<Record<Label, string | null>> = {
      git: git?.text ?? null,
      shell: onOneLine(environment.cwd()),
      background: listed(runningCommands(context)),
      'handed on': listed(options.delegated?.(context) ?? []),
    }
    const notified = notifiedBefore(session.entries)
    const before: Readonly<Record<Label, string | null>> = {
      git: notified.get('git') ?? null,
      shell: notified.get('shell') ?? onOneLine(around.root),
      background: notified.get('background') ?? NOTHING,
      'handed on': notified.get('handed on') ?? NOTHING,
    }
    const news = LABELS.filter((label) => facts[label] !== null && facts[label] !== before[label])
    return [
      ...block(
        news.map((label) => `${label}: ${facts[label]}`),
        git,
        session.taintedBy,
      ),
      ...files,
    ]
  } catch (error) {
    logger.debug('What is around the session could not be told.', { error: errorLine(error) })
    return []
  }
}

/** Whether a part of a message is such a block. */
export function isRuntimeState(part: {
  readonly type: string
  readonly text?: string
  readonly origin?: string
}): boolean {
  const isOurs = part.origin === 'reminder' || part.origin === 'external'
  return part.type === 'text' && isOurs && part.text?.startsWith(`${OPEN}\n`) === true
}

/** Names in it are those of whoever made the repository. */
function block(lines: readonly string[], git: GitState | null, taintedBy: readonly string[]): readonly TextPart[] {
  if (lines.length === 0) return []
  const text = [OPEN, INTRODUCTION, ...lines, CLOSE].join('\n')
  if (!git?.isNaming) return [{ type: 'text', text, origin: 'reminder' }]
  // They are told in a session that is tainted already, and add nothing to that.
  return [{ type: 'text', text, origin: 'external', sources: [{ type: 'inherited', names: taintedBy }] }]
}

/** What the newest blocks say that no compaction has taken out of the model's sight. */
function notifiedBefore(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const notified = new Map<string, string>()
  for (let index = entries.length - 1; index >= 0 && notified.size < LABELS.length; index--) {
    const entry = entries[index]!
    if (entry.type === 'compaction') break
    if (entry.type !== 'message' || entry.message.role !== 'user') continue
    for (const part of entry.message.content) {
      if (part.type !== 'text' || !isRuntimeState(part)) continue
      for (const [, label, value] of part.text.matchAll(/^([a-z ]+): (.*)$/gm))
        if (!notified.has(label!)) notified.set(label!, value!)
    }
  }
  return notified
}

interface Looks {
  messages: number
  misses: number
}

/** `null` where there is no repository, git says nothing in time, or this is no time to ask. */
async function gitState(
  context: HookEvent,
  { isRemote, root }: EnvironmentContext,
  options: RuntimeStateOptions,
): Promise<GitState | null> {
  const { environment, session, signal, clock } = context
  const looks = session.state.scratch<Looks>('runtime.state', () => ({ messages: 0, misses: 0 }))
  const isFirst = looks.messages++ === 0
  // A remote host takes round trips for it, which a person would wait for.
  const { git = true } = options
  const isWanted = typeof git === 'function' ? git(context) : git
  if (isFirst || isRemote || !isWanted || looks.misses >= MOST_MISSES) return null
  if ((await folderWithGit(environment!, root)) === null) return null
  const { readGitState } = await import('./git-state.js')
  const ended = new AbortController()
  const missed = () => 'missed' as const
  const late = clock.sleep(GIT_WITHIN_MS, ended.signal).then(missed, missed)
  const location = { environment: environment!, cwd: root, signal: AbortSignal.any([signal, ended.signal]) }
  const state = await Promise.race([readGitState(context, location).catch(missed), late])
  ended.abort()
  looks.misses = state === 'missed' ? looks.misses + 1 : 0
  return state === 'missed' ? null : state
}

/** As with the next result, but before the model answers; of a remote host with the next result only, for nobody is to wait for it. */
async function changedByOthers(context: HookEvent, around: EnvironmentContext): Promise<readonly TextPart[]> {
  if (around.isRemote || seenFiles(context.session.state).size === 0) return []
  if (!around.isTimeToLook(context.clock.now())) return []
  const { changedFiles } = await import('./workspace-watch.js')
  return (await changedFiles(context, around)).map((text) => ({ type: 'text', text, origin: 'reminder' }))
}

function runningCommands({ environment }: HookEvent): readonly string[] {
  const running = environment!.processes().map((process) => process.info())
  return running.filter(({ endedAtMs }) => endedAtMs === null).map(({ id, command }) => `${id} ${command}`)
}

function listed(items: readonly string[]): string {
  if (items.length === 0) return NOTHING
  const more = items.length > MOST_NAMED ? ` and ${items.length - MOST_NAMED} more` : ''
  return `${items.slice(0, MOST_NAMED).map(fewWords).join('; ')}${more}`
}

function fewWords(text: string): string {
  const line = onOneLine(text).replace(/\s+/g, ' ').trim()
  return line.length <= WORDS ? line : `${line.slice(0, WORDS).toWellFormed()}…`
}

/** Without what would begin another line, or end the block: folders may be called so. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').replaceAll('<', '‹')
}

/** What an agent can tell of its surroundings beyond its environment. */
export interface RuntimeStateOptions {
  /** Whether git is asked about the workspace: for some ten milliseconds with each message of the person but the first. Default `true`. */
  readonly git?: boolean | ((event: HookEvent) => boolean)
  /** What was delegated and has not ended, a few words each. Default: nothing ever is. */
  readonly delegated?: (event: HookEvent) => readonly string[]
}
