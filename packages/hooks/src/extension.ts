// Hooks at the points of a run: what they say becomes what the point can carry.
import type { JsonObject } from '@hermes/contracts'
import type { Entry, TextPart } from '@hermes/contracts/conversation'
import type {
  ChildEvent,
  Extension,
  ExtensionApi,
  HookEvent,
  HookHandlers,
  SessionEvent,
} from '@hermes/contracts/extension'
import type { ApprovalQuestion, Policy } from '@hermes/contracts/policy'
import type { HookAnswer } from './answer.js'
import { FAILURES, RARE_POINTS, type RarePoint } from './event-table.js'
import type { HomeHooks } from './home-hooks.js'
import { findings, hooksCommand } from './hooks-command.js'
import { AGENT_TYPE, type Moment, type PermissionMode } from './moment.js'
import { changeOf, contextsIn, reminder, verdictOf } from './verdicts.js'

/** What {@link hooksExtension} needs beside the hooks. */
interface HookExtensionOptions {
  /** Where sessions work whose folders are on no machine of ours. Absolute. */
  readonly cwd: string
  /** A no of a hook answers a question that a person was asked. */
  readonly policy: Pick<Policy, 'answer'>
  /** How calls of a session with these entries are permitted, in the word of Claude Code and Codex. */
  permissionMode(entries: readonly Entry[]): PermissionMode
}

/** Hooks have their own time, see `timeout`. */
const UNTIMED = { timeoutMs: Number.POSITIVE_INFINITY } as const

/** Has the hooks of a home run at the points of a run, and adds `/hooks`. */
export function hooksExtension(hooks: HomeHooks, options: HookExtensionOptions): Extension {
  return {
    name: 'hooks',
    setup(api) {
      const teller = tellerOf(hooks, options)
      api.commands.add(hooksCommand(hooks))
      api.doctor.check({ name: 'hooks', run: () => findings(hooks, options.cwd) })
      watchSessions(api.hooks, hooks, teller)
      watchCompaction(api.hooks, teller)
      watchMessages(api.hooks, teller)
      watchCalls(api.hooks, teller)
      watchApprovals(api.hooks, teller, options)
      watchChildren(api.hooks, hooks, options)
      for (const point of RARE_POINTS) if (hooks.wants(point)) watchRare(api.hooks, point, { hooks, teller, options })
      return () => hooks.close()
    },
  }
}

type Points = ExtensionApi['hooks']

/** Tells hooks of a point that was reached. */
interface Teller {
  folderOf(event: Pick<SessionEvent, 'environment'>): string
  /** Of a point of a session, with what is its own. */
  ofSession(event: AnySessionEvent, own: OwnMoment): Promise<readonly HookAnswer[]>
  ofRun(event: HookEvent, own: OwnMoment): Promise<readonly HookAnswer[]>
}

type OwnMoment = Pick<Moment, 'point' | 'call' | 'matched' | 'status' | 'fields'>
type AnySessionEvent = Pick<SessionEvent, 'session' | 'agentPath' | 'environment' | 'signal'> & {
  readonly platform?: string
}

function tellerOf(hooks: HomeHooks, { cwd, permissionMode }: HookExtensionOptions): Teller {
  const folderOf = ({ environment }: Pick<SessionEvent, 'environment'>) =>
    environment?.backend === 'local' ? (environment.root ?? cwd) : cwd
  const placeOf = (event: AnySessionEvent) => ({
    sessionId: event.session.id,
    platform: event.platform ?? '',
    agentPath: event.agentPath,
    cwd: folderOf(event),
    permissionMode: permissionMode(event.session.entries),
  })
  const redacted = ({ session, signal }: AnySessionEvent) => ({ signal, redact: session.redact })
  return {
    folderOf,
    ofSession: (event, own) =>
      hooks.dispatch(
        { ...placeOf(event), runId: '', model: '', ...own },
        { ...redacted(event), notice: (text) => void unsaid(event).push(text) },
      ),
    ofRun: (event, own) => {
      for (const text of unsaid(event).splice(0)) event.notice(text, 'info')
      return hooks.dispatch(
        { ...placeOf(event), runId: event.runId, model: event.model.model, ...own },
        { ...redacted(event), notice: (text) => event.notice(text, 'info') },
      )
    },
  }
}

function watchSessions({ on }: Points, hooks: HomeHooks, { folderOf, ofSession, ofRun }: Teller): void {
  on('run-start', (event) => hooks.refresh(folderOf(event), (text) => event.notice(text)))
  on(
    'session-start',
    async (event) => {
      const source = event.isNew ? 'startup' : 'resume'
      const answers = await ofSession(event, {
        point: 'session-start',
        matched: { source, agent: AGENT_TYPE },
        fields: { all: { source } },
      })
      waiting(event).push(...contextsIn(answers))
    },
    UNTIMED,
  )
  on(
    'run-end',
    async (event) => {
      const { status, text, usage, error } = event
      const hermes = {
        ...{ completed: status === 'completed', failed: status === 'failed', interrupted: status === 'interrupted' },
        ...{ turn_exit_reason: status, assistant_response: text, usage: { ...usage } },
      }
      const failure = FAILURES[error?.code ?? ''] ?? 'unknown'
      const failed = {
        error: failure,
        error_details: error?.message ?? null,
        last_assistant_message: text === '' ? null : text,
      }
      const fields = { hermes: plain(hermes), claude: failed, codex: failed }
      await ofRun(event, { point: 'run-end', status, matched: { error: failure }, fields })
    },
    UNTIMED,
  )
  on(
    'session-end',
    async (event) => {
      const reason = 'other'
      await ofSession(event, { point: 'session-end', matched: { reason }, fields: { all: { reason } } })
    },
    UNTIMED,
  )
}

function watchCompaction({ on }: Points, { ofSession }: Teller): void {
  on(
    'compaction',
    async (event) => {
      if (event.isPlan) return undefined
      const trigger = event.cause === 'asked' ? 'manual' : 'auto'
      const fields = { all: { trigger, custom_instructions: '' } }
      const answers = await ofSession(event, { point: 'compaction', matched: { trigger }, fields })
      const objection = answers.find(({ block, stop }) => block !== undefined || stop !== undefined)
      // What no request fits without is done all the same.
      const canSkip = event.cause === 'threshold' || event.cause === 'asked'
      if (objection && canSkip) return { type: 'skip', reason: objection.block ?? objection.stop! }
      // What hooks of the start have told the model goes with the summary, so they are asked again.
      const source = 'compact'
      const again = { point: 'session-start', matched: { source }, fields: { all: { source } } } as const
      return event.agentPath.length > 1 ? undefined : contextsIn(await ofSession(event, again))
    },
    UNTIMED,
  )
}

function watchMessages({ on }: Points, { ofRun }: Teller): void {
  on(
    'input',
    async (event) => {
      const text = textOf(event.input)
      const hermes = { user_message: text, is_first_turn: event.session.entries.length === 0 }
      const answers = await ofRun(event, { point: 'input', fields: { all: { prompt: text }, hermes } })
      const block = answers.find((answer) => answer.block !== undefined || answer.stop !== undefined)
      if (block) refusalOf(event).reason = block.block ?? block.stop!
      const texts = [...waiting(event).splice(0), ...contextsIn(answers)]
      return texts.length === 0 ? undefined : { after: texts.map(reminder) }
    },
    UNTIMED,
  )
  on(
    'before-model-call',
    async (event) => {
      const { reason } = refusalOf(event)
      if (reason !== null)
        return { type: 'end-run', code: 'hooks.blocked', message: `A hook stopped this run: ${reason}` }
      const fields = { hermes: { message_count: event.request.messages.length } }
      await ofRun(event, { point: 'before-model-call', fields })
      return undefined
    },
    UNTIMED,
  )
  on(
    'after-model-call',
    async (event) => {
      const fields = { hermes: plain({ usage: event.finish.usage }) }
      await ofRun(event, { point: 'after-model-call', fields })
    },
    UNTIMED,
  )
  on(
    'answer',
    async (event) => {
      const answers = await ofRun(event, {
        point: 'answer',
        matched: { agent: AGENT_TYPE },
        fields: {
          all: { stop_hook_active: event.continued > 0, last_assistant_message: event.text },
          hermes: { final_response: event.text, attempt: event.continued },
          ...(event.agentPath.length > 1 ? NO_TRANSCRIPT : {}),
        },
      })
      if (answers.some(({ stop }) => stop !== undefined)) return undefined
      return answers.find(({ block }) => block !== undefined)?.block
    },
    UNTIMED,
  )
}

function watchCalls({ on }: Points, { folderOf, ofRun }: Teller): void {
  on(
    'before-tool-call',
    async (event) => {
      const { callId: id, tool, args } = event
      const answers = await ofRun(event, { point: 'before-tool-call', call: { id, toolName: tool.name, args } })
      const { now, ask } = verdictOf(answers, { toolName: tool.name, args, cwd: folderOf(event) })
      if (ask !== undefined) asks(event).set(id, ask)
      const contexts = contextsIn(answers)
      if (contexts.length > 0) notesOf(event).set(id, contexts)
      return now
    },
    UNTIMED,
  )
  // A handler says one thing; with other arguments the question comes after them.
  on(
    'before-tool-call',
    (event) => {
      const reason = asks(event).get(event.callId)
      return reason === undefined ? undefined : { type: 'ask', reason }
    },
    { order: 1 },
  )
  // Behind every gate that changes arguments: what a person is asked about is the call as it is then.
  on('before-tool-call', (event) => void callsOf(event).set(event.callId, event.args), {
    order: Number.MAX_SAFE_INTEGER,
  })
  on(
    'tool-result',
    async (event) => {
      callsOf(event).delete(event.callId)
      const { callId: id, toolName, args, outcome, isRefused, startedAtMs, endedAtMs } = event
      const text = outcome.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
      const result = { text, isError: outcome.isError === true, durationMs: Math.max(0, endedAtMs - startedAtMs) }
      const call = { id, toolName, args: typeof args === 'string' ? { raw: args } : args, result }
      const answers = await ofRun(event, { point: 'tool-result', call })
      const before = isRefused ? [] : (notesOf(event).get(id) ?? [])
      return changeOf(answers, before, result.isError)
    },
    UNTIMED,
  )
}

function watchApprovals({ on }: Points, { ofRun }: Teller, { policy }: HookExtensionOptions): void {
  on(
    'approval-request',
    async (event) => {
      const { callId, approvalId } = event
      const { summary, rule, action, subject } = event.question
      const answers = await ofRun(event, {
        point: 'approval-request',
        call: {
          id: callId,
          toolName: subject.toolName ?? action.type,
          args: callsOf(event).get(callId) ?? ownOf(action),
        },
        matched: { notification: 'permission_prompt' },
        fields: {
          claude: { message: summary, notification_type: 'permission_prompt' },
          hermes: { description: summary, pattern_key: rule },
        },
      })
      if (answers.some(({ block }) => block !== undefined)) await policy.answer(approvalId, 'deny', 'a hook')
    },
    UNTIMED,
  )
  on(
    'approval-resolve',
    async (event) => {
      const { summary, rule } = event.question
      const fields = { hermes: { description: summary, pattern_key: rule, choice: event.outcome } }
      await ofRun(event, { point: 'approval-resolve', fields })
    },
    UNTIMED,
  )
}

/** Tells hooks of a point that few want to be told of. */
function watchRare<Name extends RarePoint>(
  { on }: Points,
  point: Name,
  {
    hooks,
    teller,
    options,
  }: { readonly hooks: HomeHooks; readonly teller: Teller; readonly options: HookExtensionOptions },
): void {
  const handler = async (event: Parameters<HookHandlers[Name]>[0]) => {
    const { factsOf, answerOf } = await import('./rare-points.js')
    const { sessionId, platform, ...facts } = factsOf(point, event)
    if ('session' in event) {
      await teller.ofRun(event, { point, ...facts })
      return undefined
    }
    const { cwd, permissionMode } = options
    const place = { sessionId: sessionId ?? '', platform: platform ?? '', agentPath: [], cwd, runId: '', model: '' }
    const moment = { point, ...place, permissionMode: permissionMode([]), ...facts }
    return answerOf(point, await hooks.dispatch(moment, { signal: event.signal, notice: () => undefined }))
  }
  on(point, handler as HookHandlers[Name], UNTIMED)
}

/** What is asked about where no call is behind it. */
function ownOf({ type: _, ...action }: ApprovalQuestion['action']): JsonObject {
  return plain(action)
}

function watchChildren({ on }: Points, hooks: HomeHooks, { cwd, permissionMode }: HookExtensionOptions): void {
  const tell = ({ child, signal }: ChildEvent, point: Moment['point'], ended: JsonObject) =>
    hooks.dispatch(
      {
        ...{
          point,
          sessionId: child.sessionId ?? '',
          platform: '',
          agentPath: child.agentPath,
          cwd,
          runId: '',
          model: '',
          permissionMode: permissionMode([]),
        },
        fields: { hermes: { child_goal: child.goal, child_session_id: child.sessionId, ...ended } },
      },
      { signal, notice: () => undefined },
    )
  on('child-started', async (event) => void (await tell(event, 'child-started', {})), UNTIMED)
  on(
    'child-ended',
    async (event) =>
      void (await tell(event, 'child-ended', { child_status: event.status, child_summary: event.answer })),
    UNTIMED,
  )
}

/** There is no file of a conversation: the store has it. */
const NO_TRANSCRIPT = { claude: { agent_transcript_path: '' }, codex: { agent_transcript_path: null } } as const

/** Data without methods, as JSON. */
const plain = (value: object) => value as JsonObject

/** What hooks of the session's start reply, for its next message. */
const waiting = ({ session }: Pick<SessionEvent, 'session'>) =>
  session.state.scratch('hooks.waiting', (): string[] => [])

/** What hooks have for the person while no run is there to tell it. */
const unsaid = ({ session }: Pick<SessionEvent, 'session'>) => session.state.scratch('hooks.unsaid', (): string[] => [])

/** Calls that wait for a permit or run, with their arguments. */
const callsOf = (event: HookEvent) => event.perRun('hooks.calls', () => new Map<string, JsonObject>())

const refusalOf = (event: HookEvent) =>
  event.perRun('hooks.refusal', (): { reason: string | null } => ({ reason: null }))

const asks = (event: HookEvent) => event.perRun('hooks.asks', () => new Map<string, string>())

const notesOf = (event: HookEvent) => event.perRun('hooks.notes', () => new Map<string, readonly string[]>())

function textOf(input: string | readonly { readonly type: string }[]): string {
  if (typeof input === 'string') return input
  return input.flatMap((part) => (part.type === 'text' ? [(part as TextPart).text] : [])).join('\n')
}
