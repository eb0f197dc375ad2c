import { randomBytes } from 'node:crypto'
import { errorLine } from '@hermes/contracts'
import type { ToolInboxMessage, ToolMail } from '@hermes/contracts/tool'
import type { ChildNode } from './child-node.js'
import type { ChildResult, ChildTask } from './child-task.js'
import { announce, type DelegateOptions, runTask } from './delegate.js'
import { describeResult } from './describe-result.js'

const KIND = 'delegation.result'
const SHOWN_GOAL_CHARS = 80
const RENEW_WILL_EVERY_MS = 30_000

/** A task under way that nobody waits for. */
export interface Handle {
  /** How the model knows its result again. */
  readonly handle: string
  readonly node: ChildNode
}

/** Options of {@link delegateInBackground}. */
interface BackgroundOptions extends Omit<DelegateOptions, 'signal' | 'progress' | 'isBackground'> {
  readonly mail: ToolMail
}

/**
 * Starts a child for each task and returns. Each gives exactly one durable word: its result, or, when the process ends first, that it was
 * interrupted. That word is on disk before this resolves, so no end of the process loses it.
 */
export async function delegateInBackground(
  tasks: readonly ChildTask[],
  options: BackgroundOptions,
): Promise<readonly Handle[]> {
  const { mail, tree } = options
  const handles = tasks.map(() => `task-${randomBytes(3).toString('hex')}`)
  for (const [index, handle] of handles.entries())
    await mail.setWill(handle, orphaned(handle, tasks[index]!.goal, null))
  const quiet = { signal: new AbortController().signal, progress: () => undefined, isBackground: true }
  const nodes = announce(tasks, { ...options, ...quiet })
  return nodes.map((node, index) => {
    const handle = handles[index]!
    tree.track(work(handle, node, { ...options, ...quiet }))
    return { handle, node }
  })
}

async function work(handle: string, node: ChildNode, options: DelegateOptions & BackgroundOptions): Promise<void> {
  const { mail, clock, tree } = options
  const over = new AbortController()
  // Where the store cannot be written now, what it holds already still stands.
  const setWill = () => mail.setWill(handle, orphaned(handle, node.task.goal, node.sessionId)).catch(() => undefined)
  const keepWill = async () => {
    for (;;) {
      await clock.sleep(RENEW_WILL_EVERY_MS, over.signal)
      await setWill()
    }
  }
  // It ends with the abort of its sleep.
  keepWill().catch(() => undefined)
  await runTask(node, {
    ...options,
    // From here on nobody may be told that it had not begun.
    onStart: setWill,
    onResult: async (result) => {
      over.abort()
      await mail.send(handle, word(handle, node, result)).catch((error: unknown) => {
        const facts = { handle, sessionId: result.sessionId, error: errorLine(error) }
        tree.logger.warn('The result of a background task could not be stored; it will be told as interrupted.', facts)
      })
    },
  })
}

function word(handle: string, node: ChildNode, result: ChildResult): ToolInboxMessage {
  const text = `[${describeResult(`Background task ${handle} (${shortGoal(node.task.goal)})`, result)}]`
  const { status, sessionId } = result
  return { kind: KIND, text, ...outsideOf(result), data: { handle, status, session_id: sessionId } }
}

function outsideOf({ taintedBy }: ChildResult): Pick<ToolInboxMessage, 'isExternal' | 'sources'> {
  return taintedBy.length === 0 ? {} : { isExternal: true, sources: [{ type: 'inherited', names: taintedBy }] }
}

function orphaned(handle: string, goal: string, sessionId: string | null): ToolInboxMessage {
  const where = sessionId === null ? 'It had not begun.' : `What it did is in session ${sessionId}; nothing was undone.`
  const text = `[Background task ${handle} (${shortGoal(goal)}) was interrupted: Hermes ended before it did. ${where} Hand it out again if it is still needed.]`
  return { kind: KIND, text, data: { handle, status: 'interrupted', session_id: sessionId } }
}

function shortGoal(goal: string): string {
  const line = goal.trim().split('\n')[0]!
  return line.length > SHOWN_GOAL_CHARS ? `${line.slice(0, SHOWN_GOAL_CHARS).toWellFormed()}…` : line
}
