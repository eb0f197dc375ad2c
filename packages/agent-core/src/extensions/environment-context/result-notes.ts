import { dirname } from 'node:path/posix'
import type { TextPart } from '@hermes/contracts/conversation'
import type { HookEvent } from '@hermes/contracts/extension'
import { effectOf, seenFiles, type Tool, type ToolPlanContext } from '@hermes/contracts/tool'
import { type EnvironmentContext, environmentContextOf } from './environment-context.js'

/** A call that has its result. */
interface FinishedCall {
  readonly tool: Tool
  readonly args: unknown
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly plan: ToolPlanContext
}

/**
 * What the world around the agent has to add to a result: instructions of folders it enters for the first time, and files that others
 * changed since it saw them. Nearly always nothing: then `null`, at once and without a look at any file. Never rejects but with an abort.
 */
export function resultNotes(context: HookEvent, call: FinishedCall): Promise<readonly TextPart[]> | null {
  const { environment, session, clock } = context
  if (!environment) return null
  const around = environmentContextOf(environment, session)
  const paths = pathsOf(call)
  if (paths === null) around.ran({ startedAtMs: call.startedAtMs, endedAtMs: call.endedAtMs })
  const folders = [...(paths ?? []).map((path) => dirname(path)), environment.cwd()]
  const entered = around.enters(folders, session)
  const isTimeToLook = seenFiles(session.state).size > 0 && around.isTimeToLook(clock.now())
  return entered.length === 0 && !isTimeToLook ? null : look(context, { around, entered, isTimeToLook })
}

async function look(
  context: HookEvent,
  {
    around,
    entered,
    isTimeToLook,
  }: { readonly around: EnvironmentContext; readonly entered: readonly string[]; readonly isTimeToLook: boolean },
): Promise<readonly TextPart[]> {
  const loading = context.session.state.scratch('environment-context.watch', () => import('./workspace-watch.js'))
  const { folderHints, changedFiles } = await loading
  const hints = entered.length === 0 ? [] : await folderHints(context, { folders: entered, root: around.root })
  const isLocal = context.environment?.backend === 'local'
  const sources = isLocal ? { sources: entered.map((path) => ({ type: 'file', path }) as const) } : {}
  const changes = isTimeToLook ? await changedFiles(context, around) : []
  return [
    ...hints.map((text) => ({ type: 'text', text, origin: 'external', ...sources }) as const),
    ...changes.map((text) => ({ type: 'text', text, origin: 'reminder' }) as const),
  ]
}

/** The files a call was about; `null` for one that may have changed any. */
function pathsOf({ tool, args, plan }: FinishedCall): readonly string[] | null {
  if (tool.paths === undefined) return effectOf(tool, args) === 'write' ? null : []
  try {
    return tool.paths(args, plan)
  } catch {
    return []
  }
}
