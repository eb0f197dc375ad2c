import { AsyncLocalStorage } from 'node:async_hooks'
import type { ToolContext } from '@hermes/contracts/tool'
import type { Calls } from '../tools/calls.js'

/** Which call of which session a server is working for when it asks something. */
export class RunningCalls implements Calls {
  readonly #current = new AsyncLocalStorage<{ readonly server: string; readonly context: ToolContext }>()
  readonly #running = new Map<string, Set<ToolContext>>()

  during<T>(server: string, context: ToolContext, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(server) ?? new Set()
    this.#running.set(server, running.add(context))
    return this.#current.run({ server, context }, work).finally(() => {
      running.delete(context)
      if (running.size === 0) this.#running.delete(server)
    })
  }

  /**
   * The call that a question belongs to. Newer servers ask within their answer; of the older ones nothing says which call they mean, so that
   * there is one only where they work for a single session. A string says why there is none.
   */
  of(server: string): ToolContext | string {
    const current = this.#current.getStore()
    if (current?.server === server) return current.context
    const running = [...(this.#running.get(server) ?? [])]
    if (running.length === 0) return 'nothing is called there now'
    const isOne = running.every(({ sessionId }) => sessionId === running[0]!.sessionId)
    return isOne ? running.at(-1)! : 'several sessions call it at once'
  }
}
