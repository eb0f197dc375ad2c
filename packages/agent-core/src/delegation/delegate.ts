import { type Clock, errorLine } from '@hermes/contracts'
import { addUsage, type Entry, noUsage, type Usage } from '@hermes/contracts/conversation'
import type { JsonSchema } from '@hermes/contracts/tool'
import type { Agent } from '../agent.js'
import type { RunResult } from '../event.js'
import { taskMessage } from './child-prompt.js'
import { type Child, type ChildResult, type ChildTask, type Delegation, roleAt } from './delegation.js'
import { mendRequest, readStructured } from './structured-answer.js'
import { watchChild } from './watch-child.js'

/** What a call of delegation works with. */
export interface DelegateOptions {
  readonly delegation: Delegation
  /** Abort interrupts all children; each still gives a result. */
  readonly signal: AbortSignal
  /** Told what children do, a line each. */
  readonly progress: (text: string) => void
  readonly clock: Clock
  /** What the last message of each child has to be. */
  readonly outputSchema?: JsonSchema
}

/** Runs a child for each task, side by side, and waits for all. Never rejects: what goes wrong with one is its result. */
export function delegate(tasks: readonly ChildTask[], options: DelegateOptions): Promise<readonly ChildResult[]> {
  const { delegation } = options
  return Promise.all(
    tasks.map((task, index) => {
      const role = roleAt(delegation.depth + 1, task.role, delegation.limits)
      const progress = (text: string) => options.progress(tasks.length === 1 ? text : `${index + 1}: ${text}`)
      return runTask({ ...task, role }, { ...options, progress })
    }),
  )
}

async function runTask(task: ChildTask, options: DelegateOptions): Promise<ChildResult> {
  const { delegation, clock, signal } = options
  const startedMs = clock.now()
  let child: Child | null = null
  try {
    signal.throwIfAborted()
    child = await delegation.createChild(task)
    const outcome = await converse(child.agent, task, options)
    return { ...outcome, ...factsOf(child.agent), durationMs: clock.now() - startedMs }
  } catch (error) {
    const facts = child ? factsOf(child.agent) : { sessionId: null, toolCalls: 0, isTainted: false }
    const status = signal.aborted ? 'interrupted' : 'failed'
    const durationMs = clock.now() - startedMs
    return { status, answer: '', problem: errorLine(error), ...facts, ...tokensOf(noUsage), durationMs }
  } finally {
    await child?.close().catch(() => undefined)
  }
}

type Outcome = Pick<ChildResult, 'status' | 'answer' | 'output' | 'problem' | 'inputTokens' | 'outputTokens'>

async function converse(agent: Agent, task: ChildTask, options: DelegateOptions): Promise<Outcome> {
  const { outputSchema } = options
  const first = await turn(agent, taskMessage(task, outputSchema), options)
  if (outputSchema === undefined || first.status !== 'completed') return toOutcome(first, options)
  const read = await readStructured(first.text, outputSchema)
  if (read.type === 'fits') return { ...toOutcome(first, options), output: read.output }
  const second = await turn(agent, mendRequest(read.problem), options)
  const both = { ...second, text: second.text || first.text, usage: addUsage(first.usage, second.usage) }
  const again = await readStructured(second.text, outputSchema)
  return again.type === 'fits'
    ? { ...toOutcome(both, options), output: again.output }
    : { ...toOutcome(both, options), problem: both.problem ?? again.problem }
}

interface Turn {
  readonly status: ChildResult['status']
  readonly text: string
  readonly problem?: string
  readonly usage: Usage
}

async function turn(agent: Agent, message: string, { clock, signal, progress }: DelegateOptions): Promise<Turn> {
  const watch = watchChild(agent, clock)
  try {
    const run = agent.run(message, { signal })
    for await (const event of run) if (event.type === 'tool-start') progress(event.summary || event.toolName)
    return { ...toTurn(await run.result), ...(watch.stale() === null ? {} : { problem: watch.stale()! }) }
  } finally {
    watch.stop()
  }
}

/** Nobody comes back to a child, so one that waits for an approval has failed. */
function toTurn({ status, text, error, usage }: RunResult): Turn {
  if (status === 'parked') return { status: 'failed', text, usage, problem: 'It needed an approval that nobody gave.' }
  return { status, text, usage, ...(error ? { problem: error.message } : {}) }
}

function toOutcome({ status, text, problem, usage }: Turn, { delegation }: DelegateOptions): Outcome {
  const answer = cut(text.trim(), delegation.limits.maxAnswerChars)
  return { status, answer, ...tokensOf(usage), ...(problem === undefined ? {} : { problem }) }
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  const left = text.length - 2 * half
  return `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(-half).toWellFormed()}`
}

function tokensOf({ inputTokens, outputTokens }: Usage) {
  return { inputTokens, outputTokens }
}

function factsOf(agent: Agent): Pick<ChildResult, 'sessionId' | 'toolCalls' | 'isTainted'> {
  const entries = agent.entries()
  const toolCalls = entries.filter((entry) => entry.type === 'message' && entry.message.role === 'tool').length
  return { sessionId: agent.sessionId, toolCalls, isTainted: entries.some(isExternal) }
}

function isExternal(entry: Entry): boolean {
  return (
    entry.type === 'message' && entry.message.content.some((part) => 'origin' in part && part.origin === 'external')
  )
}
