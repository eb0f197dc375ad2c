import { type Clock, errorLine, HermesError, type JsonObject } from '@hermes/contracts'
import { addUsage, taintsIn } from '@hermes/contracts/conversation'
import type { HookName } from '@hermes/contracts/extension'
import type { JsonSchema, ProgressAbout } from '@hermes/contracts/tool'
import type { Agent } from '../agent.js'
import { denialOf, deniedData } from '../events/denial.js'
import type { RunResult } from '../events/event.js'
import { observe } from '../hooks/dispatch.js'
import type { RunInput } from '../loop/run-input.js'
import type { ChildNode } from './child-node.js'
import { taskInput, taskMessage } from './child-prompt.js'
import type { ChildResult, ChildTask } from './child-task.js'
import type { ChildTree } from './child-tree.js'
import { type Child, type Delegation, roleAt } from './delegation.js'
import { readStructured, repairRequest } from './structured-answer.js'
import { watchChild } from './watch-child.js'
import type { Worktree } from './worktree.js'

/** What a call of delegation works with. */
export interface DelegateOptions {
  readonly delegation: Delegation
  readonly tree: ChildTree
  /** Abort interrupts all children; each still gives a result. */
  readonly signal: AbortSignal
  /** Told what children do, a line each. */
  readonly progress: (text: string, about: ProgressAbout) => void
  readonly clock: Clock
  /** What the last message of each child has to be. */
  readonly outputSchema?: JsonSchema
  /** Whoever hands out has read text from outside, which may speak through the tasks: its names. Default none. */
  readonly taintedBy?: readonly string[]
  /** Nobody waits for the children. Default `false`. */
  readonly isBackground?: boolean
  /** Makes the worktree of a task that wants one. Default: such a task fails. */
  readonly openWorktree?: () => Promise<Worktree>
  /** Told when the child is there, before it does anything. Must not throw. */
  readonly onStart?: () => Promise<unknown>
  /** Told of the result before the tree shows that the task has ended. Must not throw. */
  readonly onResult?: (result: ChildResult) => Promise<void>
}

/** Puts tasks into the tree, in their order, with the role that the depth allows. */
export function announce(tasks: readonly ChildTask[], options: DelegateOptions): readonly ChildNode[] {
  const { delegation, tree, isBackground = false } = options
  const { depth, limits, agentPath = ['root'] } = delegation
  return tasks.map((task) => tree.add(agentPath, { ...task, role: roleAt(depth + 1, task.role, limits) }, isBackground))
}

/** Runs a child for each task, side by side, and waits for all. Never rejects: what goes wrong with one is its result. */
export function delegate(tasks: readonly ChildTask[], options: DelegateOptions): Promise<readonly ChildResult[]> {
  const label = (node: ChildNode, index: number): DelegateOptions['progress'] => {
    const prefix = tasks.length === 1 ? '' : `${index + 1}: `
    return (text, about) => options.progress(`${prefix}${text}`, { ...about, source: node.id })
  }
  return Promise.all(
    announce(tasks, options).map((node, index) => runTask(node, { ...options, progress: label(node, index) })),
  )
}

/** Runs one announced task to its end, once there is room for it. Never rejects. */
export async function runTask(node: ChildNode, options: DelegateOptions): Promise<ChildResult> {
  const { delegation, tree, clock } = options
  const signal = AbortSignal.any([options.signal, node.stopped.signal])
  let child: Child | null = null
  let worktree: Worktree | null = null
  let leave: () => void = () => undefined
  let outcome: Outcome
  try {
    leave = await tree.slot(delegation.agentPath ?? ['root'], delegation.limits.maxChildren, signal)
    worktree = node.task.worktree ? await openedBy(options) : null
    const cwd = worktree ? { cwd: worktree.cwd } : {}
    child = await delegation.createChild(node.task, { agentPath: node.path, ...cwd })
    tree.attach(node, child.agent)
    await observe(hooksOf(options, 'child-started'), 'child-started', childEvent(node, options, child.agent.sessionId))
    await options.onStart?.()
    outcome = noted(await converse(child.agent, node, { ...options, signal }), child.note)
  } catch (error) {
    const problem = node.stopReason ?? errorLine(error)
    outcome = { status: signal.aborted ? 'interrupted' : 'failed', answer: '', problem }
  }
  const facts = child ? factsOf(child.agent) : { sessionId: null, toolCalls: 0, taintedBy: [] }
  await child?.close().catch((error: unknown) => {
    tree.logger.warn('The agent of a task did not close cleanly.', { task: node.id, error: errorLine(error) })
  })
  const changes = worktree ? { changes: await worktree.finish(node.task.goal) } : {}
  const result = { ...outcome, ...changes, ...facts, usage: node.total, durationMs: clock.now() - node.startedAtMs }
  await options.onResult?.(result)
  const { status, answer, usage } = result
  const ended = { ...childEvent(node, options, facts.sessionId), status, answer, usage }
  await observe(hooksOf(options, 'child-ended'), 'child-ended', ended)
  tree.end(node, result)
  leave()
  return result
}

function hooksOf<Name extends HookName>({ delegation }: DelegateOptions, name: Name) {
  return delegation.hooks?.at(name) ?? []
}

function childEvent(node: ChildNode, { delegation, tree, clock }: DelegateOptions, sessionId: string | null) {
  const { agentPath = ['root'] } = delegation
  const child = { id: node.id, goal: node.task.goal, agentPath: node.path, sessionId }
  // What is known of a task is told, also of one that was stopped.
  return { agentPath, child, clock, logger: tree.logger, signal: new AbortController().signal }
}

function openedBy({ openWorktree }: DelegateOptions): Promise<Worktree> {
  if (openWorktree) return openWorktree()
  throw new HermesError('There is no worktree: this agent has nowhere to make one.', {
    code: 'delegation.no_worktree',
  })
}

type Outcome = Pick<ChildResult, 'status' | 'answer' | 'output' | 'problem'>

function noted(outcome: Outcome, note: string | undefined): Outcome {
  if (note === undefined) return outcome
  return { ...outcome, problem: [note, outcome.problem].filter(Boolean).join(' ') }
}

async function converse(agent: Agent, node: ChildNode, options: DelegateOptions): Promise<Outcome> {
  const { outputSchema, taintedBy = [] } = options
  const first = await turn(agent, taskInput(taskMessage(node.task, outputSchema), taintedBy), { ...options, node })
  if (outputSchema === undefined || first.status !== 'completed') return toOutcome(first, options)
  const read = await readStructured(first.text, outputSchema)
  if (read.type === 'fits') return { ...toOutcome(first, options), output: read.output }
  const second = await turn(agent, repairRequest(read.problem), { ...options, node })
  const both = { ...second, text: second.text || first.text }
  const again = await readStructured(second.text, outputSchema)
  return again.type === 'fits'
    ? { ...toOutcome(both, options), output: again.output }
    : { ...toOutcome(both, options), problem: both.problem ?? again.problem }
}

interface Turn {
  readonly status: ChildResult['status']
  readonly text: string
  readonly problem?: string
}

async function turn(
  agent: Agent,
  message: RunInput,
  { node, tree, clock, signal, progress }: DelegateOptions & { readonly node: ChildNode },
): Promise<Turn> {
  const below = () => tree.unfinished(node.path).flatMap((one) => one.agent ?? [])
  const watch = watchChild(agent, { clock, signal, below }, () => tree.changed(node))
  const follow = async (): Promise<Turn> => {
    const run = agent.run(message, { signal })
    for await (const event of run) {
      if (event.type === 'usage-update') node.usage = addUsage(node.usage, event.usage)
      const denied = denialOf(event)
      if (denied) {
        const data = { child: progressOf(tree, node), ...deniedData(denied) }
        progress(`${denied.tool} was not permitted`, { data })
      }
      if (event.type !== 'tool-start') continue
      progress(event.summary || event.toolName, { data: { child: progressOf(tree, node) } })
      tree.changed(node)
    }
    return toTurn(await run.result)
  }
  try {
    const ended = await Promise.race([follow(), watch.abandoned])
    const problem = watch.stale() ?? node.stopReason
    return { ...(ended ?? UNENDING), ...(problem === null ? {} : { problem }) }
  } finally {
    watch.stop()
  }
}

/** It was told to end and does not: whoever waits for it goes on without. */
const UNENDING: Turn = { status: 'interrupted', text: '', problem: 'It did not end when it was told to.' }

/** A child as events show it. */
function progressOf(tree: ChildTree, node: ChildNode): JsonObject {
  const { id, goal, state, sessionId, modelCalls, toolCalls, usage } = tree.info(node)
  const { inputTokens: input_tokens, outputTokens: output_tokens } = usage
  const counts = { model_calls: modelCalls, tool_calls: toolCalls, input_tokens, output_tokens }
  return { id, goal, state, session_id: sessionId, ...counts }
}

/** Nobody comes back to a child, so one that waits for an approval has failed. */
function toTurn({ status, text, error }: RunResult): Turn {
  if (status === 'parked') return { status: 'failed', text, problem: 'It needed an approval that nobody gave.' }
  return { status, text, ...(error ? { problem: error.message } : {}) }
}

function toOutcome({ status, text, problem }: Turn, { delegation }: DelegateOptions): Outcome {
  const answer = cut(text.trim(), delegation.limits.maxAnswerChars)
  return { status, answer, ...(problem === undefined ? {} : { problem }) }
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  const left = text.length - 2 * half
  return `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(-half).toWellFormed()}`
}

function factsOf(agent: Agent): Pick<ChildResult, 'sessionId' | 'toolCalls' | 'taintedBy'> {
  const entries = agent.entries()
  const toolCalls = entries.filter((entry) => entry.type === 'message' && entry.message.role === 'tool').length
  return { sessionId: agent.sessionId, toolCalls, taintedBy: [...new Set(entries.flatMap(taintsIn))] }
}
