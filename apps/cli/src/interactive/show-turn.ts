import type { AgentEvent, ChildInfo } from '@hermes/agent-core'
import { describeTask, PLAN_HINT } from '@hermes/commands'
import type { Turn } from '@hermes/host'
import type { MarkdownStream } from '../markdown/markdown.js'
import { createProgressView } from '../render/progress.js'
import { printable } from '../render/style.js'
import { renderTasks, type ShownTask, tasksIn } from '../render/todo-list.js'
import { TurnMemory } from '../turn-memory.js'
import type { Console } from './console.js'
import type { Display } from './display.js'
import { isPlanningSession, type OpenSession } from './open-session.js'
import { createTurnStatus } from './turn-status.js'
import type { Written } from './written.js'

const TICK_MS = 1_000
const MAX_SHOWN_CHILDREN = 5
const MAX_PRINTED_TASKS = 30
const NOBODY_ANSWERED = 'Nobody answered in time. Answer with hermes approvals, or say anything to be asked again.'

/** Where a run is shown, and who is told of it. */
interface TurnView {
  readonly session: OpenSession
  readonly console: Console
  readonly written: Written
  readonly display: Display
  readonly showsThoughts: () => boolean
  /** Lines that wait for the run, the last of its status. */
  readonly waiting: () => readonly string[]
  /** Gets a way to bring the status up to date, once there is one. */
  readonly onStatus: (showStatus: () => void) => void
  readonly onEvent: (event: AgentEvent) => void
  /** The run is at its end; what it says of that stands already. */
  readonly onResult: () => Promise<void>
}

/** Shows a run from its first event to its end; whether it was completed. Rejects with what the run or `onResult` threw. */
export async function showTurn(turn: Turn, view: TurnView): Promise<boolean> {
  const { session, console, written, display } = view
  const { agent, children, entries } = session
  const { isLive } = console
  const markdown = await markdownFor(view)
  const blocks = written.beginBlocks()
  const progress = createProgressView({
    ...{ output: written.stream, text: true, isLive, blocks, showsThoughts: view.showsThoughts },
    ...{ calls: () => display.calls, diffs: display.diffs },
    ...(markdown && { markdown }),
  })
  const known = agent.entries()
  const status = createTurnStatus(Date.now(), tasksIn(known.length > 0 ? known : entries))
  const showTasks = (tasks: readonly ShownTask[] | null) => {
    if (isLive && tasks !== null) written.besideCalls.write(renderTasks(tasks, MAX_PRINTED_TASKS, written.lines))
  }
  const showStatus = () =>
    console.setStatus([
      ...childLines(children.list(), Date.now(), MAX_SHOWN_CHILDREN),
      ...status.lines(agent.activity(), Date.now()),
      ...view.waiting(),
    ])
  const ticker = setInterval(showStatus, TICK_MS)
  view.onStatus(showStatus)
  const memory = new TurnMemory()
  try {
    for await (const event of turn) {
      memory.see(event)
      progress.show(event)
      status.see(event)
      showTasks(status.takeTasks(false))
      view.onEvent(event)
      if (event.type !== 'message-delta' && event.type !== 'reasoning-delta') showStatus()
    }
    const result = await turn.result
    showTasks(status.takeTasks(true))
    const isPlanning = isPlanningSession(session)
    if (result.status !== 'completed' || result.error || isPlanning) blocks.begin('end')
    if (result.status === 'interrupted') written.note('Stopped.')
    if (result.status === 'parked') written.note(NOBODY_ANSWERED)
    if (result.error) written.fail(result.error.message)
    await view.onResult()
    if (isPlanning) written.say(PLAN_HINT)
    return result.status === 'completed'
  } finally {
    memory.end()
    clearInterval(ticker)
    written.endBlocks()
  }
}

/** Loaded while the model thinks; what no person looks at stays as the model wrote it. */
export async function markdownFor({
  console,
  display,
  written,
}: Pick<TurnView, 'console' | 'written'> & {
  readonly display: Pick<Display, 'drawsMarkdown'>
}): Promise<MarkdownStream | null> {
  const { output } = console
  if (!output.isTTY || !display.drawsMarkdown) return null
  const { createMarkdownStream } = await import('../markdown/markdown.js')
  return createMarkdownStream({ columns: () => output.columns(), style: written.style })
}

/** What is at work, a line each, as many as fit. */
function childLines(children: readonly ChildInfo[], nowMs: number, most: number): readonly string[] {
  const open = children.filter(({ endedAtMs }) => endedAtMs === null)
  const lines = open.map((child) => `  ${printable(describeTask(child, nowMs))}`)
  return lines.length > most ? [...lines.slice(0, most - 1), `  … ${lines.length - most + 1} more tasks`] : lines
}
