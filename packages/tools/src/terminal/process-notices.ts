import type { Clock } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import type { BackgroundProcess, ProcessInfo } from '@hermes/contracts/environment'
import type { ToolContext, ToolNotice, ToolState } from '@hermes/contracts/tool'
import { cleanOutput } from '@hermes/sandbox'
import { BurstLimit, WatchLimits } from './watch-limits.js'

const NEWEST_CHARS = 2000
const MAX_LINE_CHARS = 4000
const SHOWN_LINES = 5
const SHOWN_LINE_CHARS = 200
const SHOWN_COMMAND_CHARS = 120

/** Tells the agent something later. */
type Notify = NonNullable<ToolContext['notify']>

/** What a session keeps about notices of its processes. */
interface Notices {
  /** Processes whose end the model has seen, by whatever way. */
  readonly seen: Set<string>
  readonly burst: BurstLimit
}

const noticesOf = (state: ToolState): Notices =>
  state.scratch('process-notices', () => ({ seen: new Set<string>(), burst: new BurstLimit() }))

/** Notes that the model gets to see how a process ended, so that it is not told again. */
export const markSeen = (state: ToolState, id: string): void => void noticesOf(state).seen.add(id)

const sourcesIn = (state: ToolState) => state.scratch('process-sources', () => new Map<string, readonly TextSource[]>())

/** Notes where what a process prints comes from. */
export const noteSources = (state: ToolState, id: string, sources: readonly TextSource[]): void =>
  void sourcesIn(state).set(id, sources)

/** Where what these processes print comes from; `undefined` where one of them is not known any more. */
export function processSources(state: ToolState, ids: readonly string[]): readonly TextSource[] | undefined {
  const known = ids.map((id) => sourcesIn(state).get(id))
  return known.every((sources) => sources !== undefined) ? known.flat() : undefined
}

const from = (state: ToolState, id: string): Pick<ToolNotice, 'sources'> => {
  const sources = processSources(state, [id])
  return sources ? { sources } : {}
}

/** Tells once how the process ended, unless the model has seen it by then. */
export function notifyOnExit(process: BackgroundProcess, state: ToolState, notify: Notify): void {
  const { seen } = noticesOf(state)
  process.observe({
    onExit: (info) =>
      notify(() => {
        if (seen.has(info.id)) return null
        seen.add(info.id)
        return { ...exitNotice(info, process.output()), ...from(state, info.id) }
      }),
  })
}

function exitNotice(info: ProcessInfo, output: string): ToolNotice {
  const how = info.exitCode === null ? `was ended by ${info.signal ?? 'a signal'}` : `exited with ${info.exitCode}`
  const newest = cleanOutput(output).trimEnd().slice(-NEWEST_CHARS).toWellFormed()
  const shown = newest === '' ? 'It wrote nothing.' : `Its newest output:\n${newest}`
  return { text: `[Background process ${info.id} (${title(info)}) ${how}. ${shown}]`, isExternal: newest !== '' }
}

const title = ({ command }: ProcessInfo): string => command.split('\n', 1)[0]!.slice(0, SHOWN_COMMAND_CHARS)

/** Tells of new lines that hold one of `patterns`. Where there are too many, it stops and tells how the process ended instead. */
export function notifyOnMatch(
  process: BackgroundProcess,
  patterns: readonly string[],
  at: { readonly state: ToolState; readonly notify: Notify; readonly clock: Clock },
): void {
  const limits = new WatchLimits(noticesOf(at.state).burst)
  const { id } = process.info()
  let buffered: readonly string[] = []
  let matches = 0
  let rest = ''
  const take = (lines: readonly string[]) => {
    const found = lines.filter((line) => patterns.some((pattern) => line.includes(pattern)))
    if (found.length === 0) return
    buffered = [...buffered, ...found].slice(-SHOWN_LINES)
    matches += found.length
    const verdict = limits.judge(at.clock.now())
    if (verdict === 'quiet') return
    if (verdict === 'stop') {
      stop()
      notifyOnExit(process, at.state, at.notify)
    }
    tell(verdict === 'stop')
  }
  const tell = (isLast: boolean) => {
    at.notify({ ...matchNotice(id, { shown: buffered, matches }, isLast), ...from(at.state, id) })
    buffered = []
    matches = 0
  }
  const stop = process.observe({
    onOutput: (text) => {
      const lines = cleanOutput(rest + text).split('\n')
      rest = lines.pop()!.slice(-MAX_LINE_CHARS)
      take(lines)
    },
    onExit: () => {
      take([rest])
      if (matches > 0) tell(false)
    },
  })
}

function matchNotice(
  id: string,
  found: { readonly shown: readonly string[]; readonly matches: number },
  isLast: boolean,
): ToolNotice {
  const shown = found.shown.map((line) => line.trim().slice(0, SHOWN_LINE_CHARS).toWellFormed())
  const left = found.matches > shown.length ? `\n(${found.matches - shown.length} earlier matches left out)` : ''
  const end = isLast ? '\nThese are too many: the watch is over, and you will be told when the process ends.' : ''
  return { text: `[Background process ${id} wrote:\n${shown.join('\n')}${left}${end}]`, isExternal: true }
}
