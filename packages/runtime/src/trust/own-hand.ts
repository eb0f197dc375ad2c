import { dirname } from 'node:path'
import type { TrustStore } from '@hermes/config'
import type { Environment } from '@hermes/contracts/environment'
import type { Extension, HookEvent } from '@hermes/contracts/extension'

/** What a call changed of what trust covers. */
interface Call {
  /** What was another one than agreed to before the call, absolute. */
  readonly changedBefore: Set<string>
  /** What it was permitted to write, absolute. */
  readonly written: Set<string>
  /** A person said yes to something of the call. */
  isAnswered: boolean
}

/**
 * Has trust in a project cover what the agent changes of its instructions, hooks and the like: the policy asks for each such file, so the change
 * is no other hand's, and the next session need not ask again. What was changed before the call stays to be asked about, and so does what a session
 * wrote without a person's yes after it read text from outside.
 */
export function ownHand(trust: TrustStore): Extension {
  return {
    name: 'own-hand',
    setup({ hooks }) {
      const callsOf = (event: HookEvent) => event.perRun('own-hand', () => new Map<string, Call>())
      const changedIn = async (folder: string) => {
        const cover = await trust.look(folder).catch(() => null)
        return cover?.changed.map((path) => `${cover.folder}/${path}`) ?? []
      }
      const callOf = async (event: HookEvent & { readonly callId: string }, environment: Environment) => {
        const calls = callsOf(event)
        const known = calls.get(event.callId)
        if (known) return known
        const changedBefore = new Set(await changedIn(environment.root ?? environment.cwd()))
        const call = { changedBefore, written: new Set<string>(), isAnswered: false }
        calls.set(event.callId, call)
        return call
      }
      hooks.on('before-action', async (event) => {
        const { action, environment } = event
        if (environment?.backend !== 'local' || (action.type !== 'write' && action.type !== 'spawn')) return
        // Before a command runs it is seen what had changed by then.
        const call = await callOf(event, environment)
        if (action.type === 'spawn') return
        // Of a file that a program has changed already it was seen when the command began.
        if (!action.runsLater)
          for (const path of await changedIn(dirname(action.path)))
            if (!call.written.has(path)) call.changedBefore.add(path)
        call.written.add(await environment.realpath(action.path).catch(() => action.path))
      })
      hooks.on('approval-resolve', async (event) => {
        if (event.outcome !== 'allow' || event.environment?.backend !== 'local') return
        const call = await callOf(event, event.environment)
        call.isAnswered = true
      })
      hooks.on(
        'tool-result',
        async (event) => {
          const call = callsOf(event).get(event.callId)
          if (!call || (event.session.isTainted && !call.isAnswered)) return undefined
          const paths = [...call.written].filter((path) => !call.changedBefore.has(path))
          if (paths.length > 0) await trust.adopt(paths)
          return undefined
        },
        { order: 90 },
      )
    },
  }
}
