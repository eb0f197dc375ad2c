import type { AgentContext, ContentBlock, SessionModeState, SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import type { Agent, AgentEvent, Run, RunResult } from '@hermes/agent-core'
import type { Entry, FinishReason } from '@hermes/contracts/conversation'
import type { ApprovalQuestion } from '@hermes/contracts/policy'
import type { ReadyAgent } from '@hermes/runtime'
import { CallIds } from './call-ids.js'
import { failure } from './failure.js'
import { toHistory } from './history.js'
import type { Home } from './home.js'
import { MODES, modesOf } from './modes.js'
import { askPermission } from './permission.js'
import { toPlan } from './plan.js'
import { toUserParts } from './prompt-content.js'
import type { Place } from './tool-view.js'
import { RunUpdates, textChunk } from './updates.js'

/** What an {@link AcpSession} is made of. */
export interface AcpSessionOptions {
  readonly ready: Pick<ReadyAgent, 'agent' | 'hasProcesses' | 'close'>
  readonly home: Home
  readonly client: AgentContext
  readonly place: Place
  /** Said once, with the first prompt. */
  readonly notices: readonly string[]
  /** The client shows notices apart from the conversation. */
  readonly showsNotices: boolean
}

/** A prompt under way. */
interface Turn {
  readonly run: Run
  isCancelled: boolean
  finishReason: FinishReason | null
}

/** One conversation with an editor. */
export class AcpSession {
  readonly #options: AcpSessionOptions
  readonly #ids = new CallIds()
  readonly #stopListening: () => void
  #notices: readonly string[]
  #turn: Turn | null = null

  constructor(options: AcpSessionOptions) {
    this.#options = options
    this.#notices = options.notices
    // A question of this session goes out with the event that names its call; nothing here tells of those of agents below.
    this.#stopListening = options.home.runtime.policy.listen(this.id, (approvalId, question) => {
      if (question.subject.sessionId !== this.id) void this.#askForChild(approvalId, question)
    })
  }

  get #agent(): Agent {
    return this.#options.ready.agent
  }

  get id(): string {
    return this.#agent.sessionId
  }

  get isBusy(): boolean {
    return this.#turn !== null
  }

  /** Whether nothing goes on in it: no prompt, no background process, no delegated task. */
  get isIdle(): boolean {
    return !this.isBusy && !this.#options.ready.hasProcesses()
  }

  /** The modes there are, and which one is on by the log. */
  modes(entries: readonly Entry[] = this.#agent.entries()): SessionModeState {
    return modesOf(entries)
  }

  /**
   * Plans, or accepts the plan; at any time, also during a prompt.
   * @throws RequestError for a mode there is not.
   */
  async setMode(modeId: string): Promise<void> {
    const agent = this.#agent
    const mode = MODES.find(({ id }) => id === modeId)
    if (!mode)
      throw failure('invalidParams', `Unknown mode "${modeId}". Modes: ${MODES.map(({ id }) => id).join(', ')}.`)
    if (mode.id === 'plan') await agent.plan()
    else if (await agent.endPlan('accept')) await this.#sendPlan()
  }

  /** The accepted plan is the task list now. */
  async #sendPlan(): Promise<void> {
    const accepted = this.#agent.entries().findLast((entry) => entry.type === 'note' && 'todos' in entry.data)
    const plan = accepted?.type === 'note' ? toPlan('todo_write', accepted.data) : null
    if (plan) await this.#send(plan)
  }

  /** Sends what was said and done so far. */
  async replay(entries: readonly Entry[]): Promise<void> {
    for (const update of toHistory(entries, this.#ids, this.#options.place)) await this.#send(update)
  }

  /**
   * Runs one prompt to its end; it has begun when this returns. Abort of `signal` is an interrupt.
   * @throws RequestError when the prompt cannot be taken, another one is under way, or the run failed.
   */
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    if (this.#turn)
      throw failure('invalidRequest', 'This session works on a prompt; wait for its end or send session/cancel first.')
    const parts = toUserParts(blocks, this.#options.place.cwd)
    if (typeof parts === 'string') throw failure('invalidParams', parts)
    const run = this.#agent.run({ content: parts }, { signal })
    const turn: Turn = { run, isCancelled: false, finishReason: null }
    this.#turn = turn
    return this.#finish(turn)
  }

  /** Ends the prompt under way; nothing happens when there is none. */
  cancel(): void {
    if (!this.#turn) return
    this.#turn.isCancelled = true
    this.#agent.interrupt('cancelled from the editor')
  }

  /** Ends the prompt under way, waits for it and frees what the agent holds; the session is kept and ends. */
  async close(reason: 'editor_close' | 'idle' = 'editor_close'): Promise<void> {
    this.#agent.interrupt('the editor left')
    await this.#turn?.run.result
    this.#stopListening()
    await this.#options.ready.close(reason)
  }

  async #finish(turn: Turn): Promise<StopReason> {
    try {
      await this.#sendNotices()
      const updates = new RunUpdates(this.#ids, this.#options.place)
      for await (const event of turn.run) {
        if (event.type === 'message-end') turn.finishReason = event.message.finishReason ?? null
        for (const update of updates.of(event)) await this.#send(update)
        if (event.type === 'approval-request') void this.#askPermission(event)
      }
      return await this.#stopReason(turn, await turn.run.result)
    } finally {
      this.#turn = null
    }
  }

  async #askPermission(event: AgentEvent & { readonly type: 'approval-request' }): Promise<void> {
    const { client, home } = this.#options
    const { approvalId, callId, question } = event
    const request = { sessionId: this.id, toolCallId: this.#ids.current(callId), question }
    const choice = await askPermission(client, request, home.logger)
    await home.runtime.policy.answer(approvalId, choice, 'editor')
  }

  /** The call of another agent is none that the editor knows, so it is shown first. */
  async #askForChild(approvalId: string, question: ApprovalQuestion): Promise<void> {
    const { client, home } = this.#options
    const toolCallId = `approval-${approvalId}`
    const title = `A helper (${question.subject.agentPath.slice(1).join(' / ')}) asks: ${question.summary}`
    const kind = question.action.type === 'spawn' ? 'execute' : 'other'
    await this.#send({ sessionUpdate: 'tool_call', toolCallId, title, kind, status: 'pending' })
    const request = { sessionId: this.id, toolCallId, question: { ...question, summary: title } }
    const choice = await askPermission(client, request, home.logger)
    await home.runtime.policy.answer(approvalId, choice, 'editor')
    const status = choice === 'deny' ? 'failed' : 'completed'
    await this.#send({ sessionUpdate: 'tool_call_update', toolCallId, status })
  }

  async #stopReason(turn: Turn, { status, error }: RunResult): Promise<StopReason> {
    if (turn.isCancelled) return 'cancelled'
    switch (status) {
      case 'interrupted':
        return 'cancelled'
      case 'completed':
        return turn.finishReason === 'length' ? 'max_tokens' : 'end_turn'
      case 'stopped':
        await this.#sendLine(error?.message)
        return error?.code === 'agent.content_filter' ? 'refusal' : 'max_turn_requests'
      case 'parked':
        await this.#sendLine(
          'Nobody answered the permission request in time, so it was not done. Prompt again to go on.',
        )
        return 'end_turn'
      case 'failed':
        throw failure('internal', error?.message ?? 'The run failed.', { code: error?.code })
      default:
        return status satisfies never
    }
  }

  async #sendNotices(): Promise<void> {
    for (const title of this.#notices) {
      if (this.#options.showsNotices) await this.#send({ sessionUpdate: 'notice', severity: 'warning', title })
      else await this.#sendLine(title)
    }
    this.#notices = []
  }

  async #sendLine(text: string | undefined): Promise<void> {
    if (text !== undefined) await this.#send(textChunk('agent_message_chunk', `\n\n[${text}]\n\n`))
  }

  /** A client that left gets nothing more; the run ends by its signal. */
  async #send(update: SessionUpdate): Promise<void> {
    await this.#options.client.notify('session/update', { sessionId: this.id, update }).catch(() => undefined)
  }
}
