import type { Extension, HookEvent, RunEnding, ToolResultChange } from '@hermes/contracts/extension'
import { effectOf } from '@hermes/contracts/tool'
import { errorOutcome } from '@hermes/registry'
import { type GuardVerdict, LoopGuard, type LoopGuardOptions } from './loop-guard.js'

/** `hardStops` of a home goes by where a run speaks. */
export interface LoopGuardSettings extends Omit<LoopGuardOptions, 'hardStops'> {
  readonly hardStops?: boolean | ((event: HookEvent) => boolean)
}

/** Last of the gates: a call that another one objects to is counted with its result. */
const ORDER = { gate: 100, result: 20 } as const

/** The guard of a run, and what it has to know of the reply whose calls it sees. */
interface GuardedRun {
  readonly guard: LoopGuard
  reply: number
  /** Calls the gate was asked about. */
  readonly seen: Set<string>
  /** Those of them that were refused for being repeated: they are not counted once more. */
  readonly blocked: Set<string>
}

/**
 * Tells the model about calls that go in circles; where nobody watches, ends them. How often a
 * program repeats its calls is its own affair; what a run may start only so many of, such as web searches, counts there too.
 */
export function loopGuard({ hardStops = false, ...options }: LoopGuardSettings = {}): Extension {
  const runOf = (event: HookEvent & { readonly reply: number }): GuardedRun => {
    const create = (): GuardedRun => {
      const guard = new LoopGuard({
        ...options,
        hardStops: typeof hardStops === 'function' ? hardStops(event) : hardStops,
      })
      return { guard, reply: -1, seen: new Set(), blocked: new Set() }
    }
    const run = event.perRun('loop-guard', create)
    if (run.reply !== event.reply) run.guard.nextReply()
    run.reply = event.reply
    return run
  }
  return {
    name: 'loop-guard',
    setup({ hooks }) {
      hooks.on(
        'before-tool-call',
        (event) => {
          const run = runOf(event)
          if (event.caller === 'program') {
            const started = run.guard.starts(event.tool.name, event.args)
            return started.type === 'allow' ? undefined : { type: 'block', reason: started.text }
          }
          const verdict = run.guard.before(event.tool.name, event.args)
          run.seen.add(event.callId)
          if (verdict.type === 'allow') return undefined
          // A limit of its own, such as that of agents, is a refusal like any other.
          if (verdict.type === 'halt' || verdict.isRepeated) run.blocked.add(event.callId)
          return verdict.type === 'halt'
            ? { ...ending(run), reason: verdict.text }
            : { type: 'block', reason: verdict.text }
        },
        { order: ORDER.gate },
      )
      hooks.on(
        'tool-result',
        (event) => {
          if (event.caller === 'program') return undefined
          const run = runOf(event)
          const { callId, toolName, tool, args, outcome, isRefused } = event
          if (run.blocked.has(callId)) return undefined
          // Another gate refused it, or it could not be run anyway.
          const repeated = isRefused && !run.seen.has(callId) ? run.guard.repeats(toolName, args) : ALLOWED
          if (repeated.type !== 'allow') return blocked(run, repeated)
          const effect = tool === null || isRefused ? 'read' : effectOf(tool, args)
          const hint = run.guard.after({ toolName, args, effect, outcome, isRefused })
          return hint === null ? undefined : { append: [{ type: 'text', origin: 'reminder', text: hint }] }
        },
        { order: ORDER.result },
      )
    },
  }
}

const ALLOWED: GuardVerdict = { type: 'allow' }

/** What was not run anyway was asked for too often. */
function blocked(run: GuardedRun, verdict: Exclude<GuardVerdict, { type: 'allow' }>): ToolResultChange {
  const replace = errorOutcome(verdict.text)
  return verdict.type === 'halt' ? { replace, end: ending(run) } : { replace }
}

function ending({ guard }: GuardedRun): RunEnding {
  const message = `${guard.halted} The run was ended because it went in circles; continue the session to go on.`
  return { type: 'end-run', code: 'agent.loop', message }
}
