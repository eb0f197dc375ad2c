import type {
  AgentContext,
  ContentBlock,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk'
import type { RunInput, RunResult } from '@hermes/agent-core'
import type { TypedLine } from '@hermes/commands'
import { offeredTo, readLine, runCommand, toPlainText, unknownLine, usageOf } from '@hermes/commands'
import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type { Entry, FinishReason } from '@hermes/contracts/conversation'
import { addUsage, noUsage } from '@hermes/contracts/conversation'
import type { Command, CommandCaller, CommandContext } from '@hermes/contracts/extension'
import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'
import type { Question } from '@hermes/contracts/tool'
import { numberedQuestion } from '@hermes/contracts/tool'
import type { EventReader, SessionHandle, Turn } from '@hermes/host'
import { openCommandContext } from '@hermes/host'
import { CallIds } from './call-ids.js'
import { failure } from './failure.js'
import { toHistory } from './history.js'
import type { Home } from './home.js'
import { askPermission } from './permission.js'
import { toPlan } from './plan.js'
import { toUserParts } from './prompt-content.js'
import { askQuestion } from './question.js'
import { configOptionsOf, modesOf, readSetting } from './session-settings.js'
import type { Place } from './tool-view.js'
import { askForTrust } from './trust.js'
import { RunUpdates, textChunk } from './updates.js'

/** What an {@link AcpSession} is made of. */
interface AcpSessionOptions {
  readonly handle: SessionHandle
  readonly home: Home
  readonly client: AgentContext
  readonly place: Place
  /** Said once, with the history or the first prompt. */
  readonly notices: readonly string[]
  /** The client shows notices apart from the conversation. */
  readonly showsNotices: boolean
  /** The client shows forms. */
  readonly hasForms: boolean
}

/** Whoever uses the editor started it, in a home of their own; the editor keeps the session that it opened. */
const CALLER: CommandCaller = {
  platform: 'acp',
  user: 'editor',
  isOwner: true,
  changes: ['send', 'resume', 'shortened'],
}

const BUSY = 'This session works on a prompt; wait for its end or send session/cancel first.'

/** A turn that the editor is shown. */
interface ShownTurn {
  readonly turn: Turn
  finishReason: FinishReason | null
  /** What the model asked and nobody has answered: the next prompt does. */
  question: Question | null
  /** What the newest model call came to. */
  contextTokens: number
}

/** A prompt under way. */
interface Prompt extends ShownTurn {
  readonly controller: AbortController
  isCancelled: boolean
}

/** One conversation with an editor. */
export class AcpSession {
  readonly #options: AcpSessionOptions
  readonly #ids = new CallIds()
  /** What this session asks beside its prompts. */
  readonly #reader: Promise<EventReader>
  /** Questions at the editor, to be taken away there. */
  readonly #open = new Map<string, AbortController>()
  #notices: readonly string[]
  #isTrustSettled = false
  #prompt: Prompt | null = null
  /** Settles once the editor has all of the run that began by itself; never rejects. */
  #woken: Promise<void> = Promise.resolve()
  /** Whether the editor is to be told the commands once more. */
  #isAnnouncing = true
  readonly #stopWatching: () => void
  /** A command is carried out; abort ends it. */
  #command: AbortController | null = null

  constructor(options: AcpSessionOptions) {
    this.#options = options
    this.#notices = options.notices
    this.#reader = options.handle.subscribe()
    void this.#readQuestions()
    this.#stopWatching = options.home.runtime.extensions.watchCommands(() => this.#announceSoon())
  }

  /** Several that come or go together are told once. */
  #announceSoon(): void {
    if (this.#isAnnouncing) return
    this.#isAnnouncing = true
    setImmediate(() => void this.announceCommands())
  }

  get id(): string {
    return this.#options.handle.id
  }

  get isBusy(): boolean {
    return this.#prompt !== null || this.#command !== null
  }

  /** What can be set, and how it is by the log. */
  settings(entries: readonly Entry[]): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    return { modes: modesOf(entries), configOptions: configOptionsOf(entries) }
  }

  /**
   * Plans, or accepts the plan; at any time, also during a prompt.
   * @throws RequestError for a mode there is not.
   */
  async setMode(modeId: string): Promise<void> {
    await this.#set('mode', modeId)
    const { agent } = await this.#options.handle.agent()
    await this.#send({ sessionUpdate: 'config_option_update', configOptions: configOptionsOf(agent.entries()) })
  }

  /**
   * Sets one option at any time, for the next request on; resolves with all of them.
   * @throws RequestError for an option or a value there is not.
   */
  async setOption(configId: string, value: unknown): Promise<SessionConfigOption[]> {
    await this.#set(configId, value)
    const entries = (await this.#options.handle.agent()).agent.entries()
    if (configId === 'mode')
      await this.#send({ sessionUpdate: 'current_mode_update', currentModeId: modesOf(entries).currentModeId })
    return configOptionsOf(entries)
  }

  async #set(configId: string, value: unknown): Promise<void> {
    const setting = readSetting(configId, value)
    const { agent } = await this.#options.handle.agent()
    switch (setting.type) {
      case 'mode':
        if (setting.mode === 'plan') await agent.plan()
        else if (await agent.endPlan('accept')) await this.#sendPlan(agent.entries())
        return
      case 'reasoning':
        await agent.setSampling({ reasoningEffort: setting.effort })
        return
      default:
        setting satisfies never
    }
  }

  /** The accepted plan is the task list now. */
  async #sendPlan(entries: readonly Entry[]): Promise<void> {
    const accepted = entries.findLast((entry) => entry.type === 'note' && 'todos' in entry.data)
    const plan = accepted?.type === 'note' ? toPlan('todo_write', accepted.data) : null
    if (plan) await this.#send(plan)
  }

  /** Sends what was said and done so far, and what is to be known of the session. */
  async replay(entries: readonly Entry[]): Promise<void> {
    for (const update of toHistory(entries, this.#ids, this.#options.place)) await this.#send(update)
    await this.#sendNotices()
  }

  /**
   * Runs one prompt to its end, or carries out the command that it is; it has begun when this returns. Abort of `signal` is an interrupt.
   * @throws RequestError when the prompt cannot be taken, another one is under way, or the run failed.
   */
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const [first, ...others] = blocks
    const typed = first?.type === 'text' ? readLine(first.text, this.#offered(), this.#allCommands()) : null
    if (typed?.type === 'command' && others.length > 0)
      return this.#say(`/${typed.command.name} takes text only; name files by their path.`)
    if (typed?.type === 'command' && (!this.isBusy || typed.command.duringRun === 'allowed'))
      return this.#carryOut(typed, signal)
    if (typed?.type === 'unknown' && others.length === 0) return this.#say(unknownLine(typed))
    if (this.isBusy) throw failure('invalidRequest', BUSY)
    const parts = toUserParts(blocks, this.#options.place.cwd)
    if (typeof parts === 'string') throw failure('invalidParams', parts)
    return this.#isTrustSettled ? this.#run({ content: parts }, signal) : this.#askThenRun({ content: parts }, signal)
  }

  /** Once for a session, before the first words of its project are read. */
  async #askThenRun(input: RunInput, signal: AbortSignal): Promise<StopReason> {
    const { client, home, place, hasForms } = this.#options
    const controller = new AbortController()
    this.#command = controller
    const ended = AbortSignal.any([signal, controller.signal])
    const request = { sessionId: this.id, cwd: place.cwd, hasForms, trust: home.runtime.trust }
    await askForTrust(client, request, { signal: ended, logger: home.logger })
    this.#command = null
    // Taken back with the prompt, it comes with the next one.
    if (ended.aborted) return 'cancelled'
    this.#isTrustSettled = true
    return this.#run(input, signal)
  }

  #run(input: RunInput, signal: AbortSignal): Promise<StopReason> {
    if (this.#prompt) throw failure('invalidRequest', BUSY)
    const controller = new AbortController()
    const turn = this.#options.handle.send(input, { signal: AbortSignal.any([signal, controller.signal]) })
    const prompt: Prompt = {
      turn,
      controller,
      isCancelled: false,
      finishReason: null,
      question: null,
      contextTokens: 0,
    }
    this.#prompt = prompt
    return this.#finish(prompt)
  }

  /**
   * Tells the run under way something; a note that no tool result could carry leads the next prompt.
   * @throws RequestError when it holds more than text.
   */
  steer(
    blocks: readonly ContentBlock[],
  ): { outcome: 'injected' } | { outcome: 'promptRequired'; reason: 'noRunningTurn' } {
    const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    const text = texts.join('\n')
    if (texts.length < blocks.length || text.trim() === '')
      throw failure('invalidParams', 'A run can be steered with text only; send the rest with the next prompt.')
    const delivery = this.#options.home.host.steer(this.id, text)
    if (!delivery) return { outcome: 'promptRequired', reason: 'noRunningTurn' }
    delivery.catch((error: unknown) =>
      this.#options.home.logger.warn('A note did not reach the run.', { error: errorLine(error) }),
    )
    return { outcome: 'injected' }
  }

  /** The commands that an editor may call. */
  #offered(): readonly Command[] {
    return offeredTo(CALLER, this, this.#allCommands())
  }

  #allCommands(): readonly Command[] {
    return this.#options.home.runtime.extensions.list('command').map(({ item }) => item)
  }

  /** Tells the editor which commands there are. */
  async announceCommands(): Promise<void> {
    this.#isAnnouncing = false
    const availableCommands = this.#offered().map((command) => {
      const hint = usageOf(command)
      return { name: command.name, description: command.summary, ...(hint === '' ? {} : { input: { hint } }) }
    })
    await this.#send({ sessionUpdate: 'available_commands_update', availableCommands })
  }

  async #say(text: string): Promise<StopReason> {
    await this.#send(textChunk('agent_message_chunk', text))
    return 'end_turn'
  }

  /** What a command came to; a run that it asks for is the turn. During a prompt `session/cancel` is for that one. */
  async #carryOut(
    { command, args }: TypedLine & { readonly type: 'command' },
    signal: AbortSignal,
  ): Promise<StopReason> {
    const controller = new AbortController()
    const isAlone = !this.isBusy
    if (isAlone) this.#command = controller
    const ended = AbortSignal.any([signal, controller.signal])
    try {
      const { agent } = await this.#options.handle.agent()
      const before = [...agent.entries()]
      const outputs = await runCommand(command, args, await this.#commandContext(ended))
      await this.#sendSettings(before)
      const text = toPlainText(outputs)
      if (text !== '') await this.#say(text)
      if (ended.aborted) return 'cancelled'
      const change = outputs.flatMap((output) => (output.type === 'change' ? [output.change] : [])).at(-1)
      if (change?.type === 'send') return await this.#run(change.text, signal)
      if (change?.type === 'resume') return await this.#run({ resume: true }, signal)
      return 'end_turn'
    } catch (error) {
      if (isAbort(error)) return 'cancelled'
      if (HermesError.isInstance(error) && error.code.startsWith('command.')) return this.#say(error.message)
      throw error
    } finally {
      if (isAlone) this.#command = null
    }
  }

  /** A command may have begun a plan, left it, or accepted it, or have changed how much the model thinks. */
  async #sendSettings(before: readonly Entry[]): Promise<void> {
    const { agent } = await this.#options.handle.agent()
    const entries = agent.entries()
    const configOptions = configOptionsOf(entries)
    if (JSON.stringify(configOptions) !== JSON.stringify(configOptionsOf(before)))
      await this.#send({ sessionUpdate: 'config_option_update', configOptions })
    const { currentModeId } = modesOf(entries)
    if (currentModeId === modesOf(before).currentModeId) return
    await this.#send({ sessionUpdate: 'current_mode_update', currentModeId })
    const last = before.at(-1)?.seq ?? 0
    await this.#sendPlan(entries.filter(({ seq }) => seq > last))
  }

  #commandContext(signal: AbortSignal): Promise<CommandContext> {
    const { handle, home, place } = this.#options
    return openCommandContext({
      ...{ runtime: home.runtime, handle, caller: CALLER, cwd: place.cwd, signal },
      isBusy: () => this.#prompt !== null,
      stop: () => this.cancel(),
      notice: (text) => void this.#sendLine(text),
      ask: (question, ended) => this.#ask(question, ended),
    })
  }

  /** A line that a command asks for; `null` where the editor shows no forms, or the person gives none. */
  async #ask(question: string, signal: AbortSignal): Promise<string | null> {
    const { client, home, hasForms } = this.#options
    if (!hasForms) return null
    const line = { question, choices: [], allowFreeText: true }
    const answer = await askQuestion(client, { sessionId: this.id, question: line }, { signal, logger: home.logger })
    signal.throwIfAborted()
    return answer.type === 'answered' ? answer.text : null
  }

  /** Shows a run that began by itself. What the editor prompts meanwhile comes after it. */
  showWakeUp(turn: Turn): void {
    const { logger } = this.#options.home
    this.#woken = this.#show({ turn, finishReason: null, question: null, contextTokens: 0 })
      .then(({ error }) => this.#sendLine(error?.message))
      .catch((error: unknown) => logger.warn('A run that began by itself failed.', { error: errorLine(error) }))
  }

  /** Says what the session does at rest. */
  showRest(line: string): void {
    void this.#sendLine(line)
  }

  /** Ends the prompt, command or run under way; nothing happens when there is none. */
  cancel(reason = 'cancelled from the editor'): void {
    const abort = new DOMException(reason, 'AbortError')
    this.#command?.abort(abort)
    if (this.#prompt) {
      this.#prompt.isCancelled = true
      this.#prompt.controller.abort(abort)
    }
    // A run that began by itself ends too: to an editor it is the session that works.
    this.#options.handle.interrupt(reason)
  }

  /** Ends the prompt under way, waits for it and frees what the agent holds; the session is kept and ends. */
  async close(): Promise<void> {
    const { handle } = this.#options
    const { turn } = this.#prompt ?? {}
    this.#stopWatching()
    this.cancel('the editor left')
    await turn?.result.catch(() => undefined)
    await this.#woken
    await (await this.#reader).return()
    for (const id of this.#open.keys()) this.#takeAway(id)
    await handle.end('editor_close')
    handle.close()
  }

  async #finish(prompt: Prompt): Promise<StopReason> {
    try {
      await this.#sendNotices()
      const result = await this.#show(prompt)
      return await this.#stopReason(prompt, result)
    } catch (error) {
      if (isAbort(error)) return 'cancelled'
      throw error
    } finally {
      this.#prompt = null
    }
  }

  async #show(shown: ShownTurn): Promise<RunResult> {
    const updates = new RunUpdates(this.#ids, this.#options.place, this.#options)
    const before = this.#woken
    for await (const event of shown.turn) {
      await before
      if (event.type === 'question-request') shown.question = event.question
      if (event.type === 'question-resolve') shown.question = null
      if (event.type === 'message-end') shown.finishReason = event.message.finishReason ?? null
      if (event.type === 'usage-update') shown.contextTokens = event.usage.inputTokens + event.usage.outputTokens
      for (const update of updates.of(event)) await this.#send(update)
      if (event.type === 'approval-request')
        void this.#askPermission(event.approvalId, this.#ids.current(event.callId), event.question)
      // Answered elsewhere, maybe before it went out here.
      if (event.type === 'approval-resolve') this.#takeAway(event.approvalId)
    }
    const result = await shown.turn.result
    await this.#sendUsage(shown, result)
    if (result.status === 'parked' && shown.question) await this.#say(`\n\n${numberedQuestion(shown.question)}`)
    return result
  }

  /** A question of this session goes out with the event that names its call; those of agents below it, and of the model, are asked here. */
  async #readQuestions(): Promise<void> {
    const { client, handle, home } = this.#options
    for await (const { event } of await this.#reader) {
      switch (event.type) {
        case 'approval-open':
          if (event.question.subject.sessionId !== this.id) void this.#askForChild(event.id, event.question)
          break
        case 'question-open': {
          const { id, question } = event
          const { signal } = this.#opening(id)
          askQuestion(client, { sessionId: this.id, question }, { signal, logger: home.logger })
            .then((answer) => handle.answer(id, answer, 'editor'))
            .catch(() => undefined)
          break
        }
        case 'approval-close':
        case 'question-close':
          this.#takeAway(event.id)
          break
        default:
      }
    }
  }

  #takeAway(id: string): void {
    this.#open.get(id)?.abort()
    this.#open.delete(id)
  }

  #opening(id: string): AbortController {
    const controller = new AbortController()
    this.#open.set(id, controller)
    return controller
  }

  async #askPermission(id: string, toolCallId: string, question: ApprovalQuestion): Promise<ApprovalChoice> {
    const { client, handle, home } = this.#options
    const { signal } = this.#opening(id)
    const request = { sessionId: this.id, toolCallId, question }
    const choice = await askPermission(client, request, { signal, logger: home.logger })
    if (signal.aborted) return choice
    await handle
      .answer(id, choice, 'editor')
      .catch((error: unknown) => home.logger.warn('An answer was not taken.', { error: errorLine(error) }))
    this.#open.delete(id)
    return choice
  }

  /** The call of another agent is none that the editor knows, so it is shown first. */
  async #askForChild(approvalId: string, question: ApprovalQuestion): Promise<void> {
    const toolCallId = `approval-${approvalId}`
    const title = `A helper (${question.subject.agentPath.slice(1).join(' / ')}) asks: ${question.summary}`
    const kind = question.action.type === 'spawn' ? 'execute' : 'other'
    await this.#send({ sessionUpdate: 'tool_call', toolCallId, title, kind, status: 'pending' })
    const choice = await this.#askPermission(approvalId, toolCallId, { ...question, summary: title })
    const status = choice === 'deny' ? 'failed' : 'completed'
    await this.#send({ sessionUpdate: 'tool_call_update', toolCallId, status })
  }

  async #stopReason(
    { isCancelled, finishReason, question }: Prompt,
    { status, error }: RunResult,
  ): Promise<StopReason> {
    if (isCancelled) return 'cancelled'
    switch (status) {
      case 'interrupted':
        return 'cancelled'
      case 'completed':
        return finishReason === 'length' ? 'max_tokens' : 'end_turn'
      case 'stopped':
        await this.#sendLine(error?.message)
        return error?.code === 'agent.content_filter' ? 'refusal' : 'max_turn_requests'
      case 'parked':
        if (!question)
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

  /** How full the window is, and what the prompt took, its delegated tasks included. */
  async #sendUsage({ contextTokens }: ShownTurn, { usage, delegated = noUsage }: RunResult): Promise<void> {
    const { home } = this.#options
    const size = contextTokens > 0 ? await windowOf(home, this.id) : null
    if (size === null) return
    const _meta = { hermes: { usage: { ...addUsage(usage, delegated) } } }
    await this.#send({ sessionUpdate: 'usage_update', used: contextTokens, size, _meta })
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

/** `null` where the model is not one that config.yaml can choose, such as that of a recording. */
async function windowOf({ runtime }: Home, sessionId: string): Promise<number | null> {
  try {
    const session = await (await runtime.storage()).sessions.get(sessionId)
    return session && (await runtime.models.window(runtime.chooseModel({ session })))
  } catch {
    return null
  }
}
