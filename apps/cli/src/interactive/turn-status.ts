import type { Activity, AgentEvent } from '@hermes/agent-core'
import { createStyle, printable } from '../render/style.js'
import { isOpen, type ShownTask, taskLines, tasksOf } from '../render/todo-list.js'
import { callLine, type StartedCall } from '../render/tool-call.js'

/** What stands above the input line while a run is under way. */
interface TurnStatus {
  see(event: AgentEvent): void
  lines(activity: Activity, nowMs: number): readonly string[]
  /** The task list, once: when the last of it is done, and `atEnd` of the run also where it was only changed; else `null`. */
  takeTasks(atEnd: boolean): readonly ShownTask[] | null
}

interface RunningCall {
  readonly call: StartedCall
  readonly startedAtMs: number
  progress: string
}

/** Children have lines of their own. */
const DELEGATES = 'delegate_task'
const MAX_SHOWN_CALLS = 5
const MAX_SHOWN_TASKS = 6
/** A model that streams and then says nothing for so long is waited for. */
const SILENT_MS = 10_000
const PLAIN = { style: createStyle({ colors: false }), columns: Number.POSITIVE_INFINITY }

/** What the agent is doing and for how long: the calls under way, the task list, one true word. */
export function createTurnStatus(startedAtMs: number, known: readonly ShownTask[]): TurnStatus {
  const calls = new Map<string, RunningCall>()
  let tasks = known
  let isWritten = false
  let words: 'thinking' | 'writing' | null = null
  let retryAtMs = 0
  const takeTasks = (atEnd: boolean) => {
    if (!isWritten || tasks.length === 0 || (isOpen(tasks) && !atEnd)) return null
    isWritten = false
    return tasks
  }
  const see = (event: AgentEvent): void => {
    switch (event.type) {
      case 'reasoning-delta':
        words = 'thinking'
        return
      case 'message-delta':
        words = 'writing'
        return
      case 'message-end':
        words = null
        return
      case 'retry-wait':
        words = null
        retryAtMs = event.atMs + event.delayMs
        return
      case 'tool-start':
        calls.set(event.callId, { call: event, startedAtMs: event.atMs, progress: '' })
        return
      case 'tool-progress': {
        const call = calls.get(event.callId)
        if (call) call.progress = printable(event.text)
        return
      }
      case 'tool-end': {
        calls.delete(event.callId)
        const written = tasksOf(event.toolName, event.data)
        if (written === null) return
        isWritten ||= JSON.stringify(written) !== JSON.stringify(tasks)
        tasks = written
        return
      }
      default:
    }
  }
  const state = (activity: Activity, nowMs: number): string => {
    if (activity.state === 'compacting') return 'compacting the conversation'
    if (activity.state === 'waiting') return activity.description === 'starting' ? 'starting' : 'waiting for you'
    const [first] = calls.values()
    if (calls.size > 1) return `running ${calls.size} calls`
    if (first) return `running ${printable(first.call.toolName)}${since(first.startedAtMs, nowMs)}`
    if (retryAtMs > nowMs) return `retrying in ${elapsed(retryAtMs - nowMs + 999)}`
    return words !== null && nowMs - activity.progressAtMs < SILENT_MS ? words : 'waiting for the server'
  }
  return {
    see,
    takeTasks,
    lines: (activity, nowMs) => {
      const running = [...calls.values()].filter(({ call }) => call.toolName !== DELEGATES)
      const shown = running.slice(0, running.length > MAX_SHOWN_CALLS ? MAX_SHOWN_CALLS - 1 : MAX_SHOWN_CALLS)
      const left = running.length - shown.length
      return [
        ...shown.flatMap(({ call, startedAtMs, progress }) => [
          `  ${callLine(call, since(startedAtMs, nowMs).trim(), PLAIN)}`,
          ...(progress === '' ? [] : [`    ${progress}`]),
        ]),
        ...(left > 0 ? [`  … ${left} more calls`] : []),
        ...(isOpen(tasks) ? taskLines(tasks, MAX_SHOWN_TASKS, PLAIN.style).map((line) => `  ${line}`) : []),
        `· ${elapsed(nowMs - startedAtMs)} · Ctrl-C stops · ${state(activity, nowMs)}`,
      ]
    },
  }
}

/** How long something takes, once that is a second. */
function since(startedAtMs: number, nowMs: number): string {
  return nowMs - startedAtMs < 1_000 ? '' : ` ${elapsed(nowMs - startedAtMs)}`
}

function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
