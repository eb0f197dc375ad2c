// Follows sessions: which skills were at work, what came of it, and when something is worth keeping or mending.
import { type Entry, liveEntries, type TextPart, turnStarts } from '@hermes/contracts/conversation'
import type {
  ExtensionApi,
  HookEvent,
  InputEvent,
  RunEndEvent,
  ToolCallEvent,
  ToolCallVerdict,
  ToolResultChange,
  ToolResultEvent,
} from '@hermes/contracts/extension'
import type { SkillLibrary } from '../skill-library.js'
import { feedbackIn } from './feedback.js'
import { shareOf } from './skill-share.js'
import { effortIn, HARD_CALLS, isHard, skillsOfLastTurn } from './turn.js'

/** Nobody is there to say whether it helped. */
const UNATTENDED: ReadonlySet<string> = new Set(['oneshot', 'cron'])
/** In public measurements two or three at a time helped best. */
const MOST_SKILLS = 3
/** So many turns make up a task, with what was asked, corrected and said to be right. */
const TURNS_OF_A_TASK = 3
/** A skill does its work first: the message brings it along. */
const AFTER_SKILLS = 6

/** What is counted of one run. */
interface RunCounts {
  readonly loaded: Set<string>
  calls: number
  hasFailed: boolean
  skillBytes: number
  resultBytes: number
}

/** Counts what comes of skills, and tells the model when to ask, to save and to mend. */
export function watchSessions({ hooks }: Pick<ExtensionApi, 'hooks'>, library: SkillLibrary): void {
  hooks.on('before-tool-call', refused)
  hooks.on('tool-result', (event) => afterCall(event, library))
  hooks.on('input', (event) => feedback(event, library), { order: AFTER_SKILLS })
  hooks.on('run-end', (event) => afterRun(event, library))
}

const countsOf = (event: HookEvent): RunCounts =>
  event.perRun('skills.counts', () => ({
    loaded: new Set(),
    calls: 0,
    hasFailed: false,
    skillBytes: 0,
    resultBytes: 0,
  }))

/** Whether a person is there who may be asked, and answer, in a session that has skills. */
const isTalk = ({ agentPath, platform, session }: HookEvent) =>
  agentPath.length <= 1 &&
  !UNATTENDED.has(platform) &&
  session.prompt()?.tools.some(({ name }) => name === 'skill_view') === true

/** Other people's sessions teach the owner's agent nothing. */
const isOwners = async ({ session }: HookEvent, { home }: SkillLibrary) => (await home.personOf(session.id)) === null

/** How the newest run of a session ended: what came to no answer is no answer that could be wrong. */
const endingOf = ({ session }: HookEvent) => session.state.scratch('skills.ending', () => ({ isAnswer: true }))

function refused(event: ToolCallEvent): ToolCallVerdict | undefined {
  const { tool, args, platform } = event
  if (tool.name === 'skill_manage' && UNATTENDED.has(platform))
    return block(
      'Runs without a person write no skills, as nobody can say whether the work was right. Say in your answer what is worth saving.',
    )
  if (tool.name !== 'skill_view' || args['file_path'] !== undefined) return undefined
  const { loaded } = countsOf(event)
  if (loaded.size < MOST_SKILLS || loaded.has(String(args['name']))) return undefined
  return block(
    `${[...loaded].join(', ')} are loaded for this task, and more than ${MOST_SKILLS} skills at a time do more harm than good. Go on with these.`,
  )
}

const block = (reason: string): ToolCallVerdict => ({ type: 'block', reason })

/** Counts a call; the one that gets over a failure in hard work says what to do once it is done, once in a session. */
async function afterCall(event: ToolResultEvent, library: SkillLibrary): Promise<ToolResultChange | undefined> {
  const { tool, toolName, args, outcome, caller, session } = event
  const counts = countsOf(event)
  const bytes = outcome.content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  const share = shareOf(session.state, library.records)
  counts.resultBytes += bytes
  share.resultBytes += bytes
  if (toolName === 'skill_view' && !outcome.isError && typeof args !== 'string') {
    counts.loaded.add(String(args['name']))
    counts.skillBytes += bytes
    share.skillBytes += bytes
  }
  if (caller !== 'model') return undefined
  counts.calls++
  const code = (outcome.data as { readonly exit_code?: unknown } | null | undefined)?.exit_code
  if (outcome.isError || (typeof code === 'number' && code !== 0)) {
    counts.hasFailed = true
    return undefined
  }
  if (!counts.hasFailed || counts.calls < HARD_CALLS || tool?.toolset === 'skills' || !isTalk(event)) return undefined
  const offer = session.state.scratch('skills.effort', () => ({ wasMade: false }))
  if (offer.wasMade) return undefined
  offer.wasMade = true
  if (!(await isOwners(event, library))) return undefined
  return { append: [reminder(EFFORT)] }
}

const EFFORT =
  '\n[This got over a failure and takes effort. Once it is done, ask the user how it went, and offer to save the way that worked as a skill.]'

/** What a person's message says of the turn before it. */
async function feedback(
  event: InputEvent,
  library: SkillLibrary,
): Promise<{ readonly after: readonly TextPart[] } | undefined> {
  if (!isTalk(event)) return undefined
  const verdict = feedbackIn(textOf(event.input))
  if (verdict === null || !(await isOwners(event, library))) return undefined
  const entries = liveEntries(event.session.entries)
  const text =
    verdict === 'corrects' ? corrected(skillsOfLastTurn(entries), library, endingOf(event).isAnswer) : praised(entries)
  return text === null ? undefined : { after: [reminder(text)] }
}

function corrected(names: readonly string[], { usage, records }: SkillLibrary, isAnswer: boolean): string | null {
  if (isAnswer) for (const name of names) usage.noteOutcome(name, 'corrected')
  const own = names.filter((name) => records.read().skills[name] !== undefined)
  return own.length === 0
    ? null
    : `\n[The skill ${own.join(', ')} was at work when this went wrong. When it is right, fix the skill with skill_manage, action patch, so that it does not happen again.]`
}

function praised(entries: readonly Entry[]): string | null {
  const start = turnStarts(entries).at(-TURNS_OF_A_TASK) ?? 0
  const effort = effortIn(entries.filter(({ seq }) => seq >= start))
  return !isHard(effort) || effort.hasWritten
    ? null
    : `\n[The user says that it went well, and it took ${effort.calls} calls. If this kind of task may come again, save the way as a skill with skill_manage, action create: when to use it and when not, the steps that worked, pitfalls, the check.]`
}

async function afterRun(event: RunEndEvent, library: SkillLibrary): Promise<void> {
  const { usage, records } = library
  const names = skillsOfLastTurn(liveEntries(event.session.entries))
  endingOf(event).isAnswer = event.status === 'completed'
  const { skillBytes, resultBytes } = countsOf(event)
  const isToCount = (names.length > 0 || skillBytes > 0) && (await isOwners(event, library))
  if (isToCount && event.status === 'completed') for (const name of names) usage.noteOutcome(name, 'completed')
  await usage.flush()
  if (isToCount && skillBytes > 0)
    await records.change((state) => ({
      skillBytes: state.skillBytes + skillBytes,
      resultBytes: state.resultBytes + resultBytes,
    }))
}

const reminder = (text: string): TextPart => ({ type: 'text', origin: 'reminder', text })

function textOf(input: InputEvent['input']): string {
  if (typeof input === 'string') return input
  return input
    .flatMap((part) => (part.type === 'text' && (part.origin ?? 'user') === 'user' ? [part.text] : []))
    .join('\n')
}
