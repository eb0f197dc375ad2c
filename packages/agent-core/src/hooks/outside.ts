// Points that no run belongs to: commands, calls beside a conversation, chats, skills.
import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import type { ChatMessageVerdict, HookHandlers, HookName, Objection, OutsideEvent } from '@hermes/contracts/extension'
import type { Hooks } from '../extension-registry/hook-table.js'
import { askGate, observe, transformations } from './dispatch.js'

type Observing = 'after-auxiliary-call' | 'skill-change'
type Gating = 'before-command' | 'before-auxiliary-call'
type Own<Name extends HookName> = Omit<Parameters<HookHandlers[Name]>[0], keyof OutsideEvent>

/** Hooks where no agent runs. A point where nobody is registered costs nothing. */
export class OutsidePoints {
  readonly #hooks: Hooks
  readonly #clock: Clock
  readonly #logger: Logger

  constructor(hooks: Hooks, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#hooks = hooks
    this.#clock = clock
    this.#logger = logger
  }

  has(name: HookName): boolean {
    return this.#hooks.at(name).length > 0
  }

  /** Tells observers; nothing has to wait for them. Never rejects. */
  async tell<Name extends Observing>(name: Name, own: Own<Name>): Promise<void> {
    const hooks = this.#hooks.at(name)
    if (hooks.length > 0) await observe(hooks, name, this.#event<Name>(own, NEVER))
  }

  /** Rejects with `code` and what the first gate that objects says, and with an abort. One that fails objects. */
  async mustPass<Name extends Gating>(
    name: Name,
    own: Own<Name>,
    { signal, code }: { signal: AbortSignal; code: string },
  ): Promise<void> {
    for (const hook of this.#hooks.at(name)) {
      const failed: Objection = { type: 'block', reason: `${hook.owner} failed at it; the log says how.` }
      const objection = await askGate(hook, name, this.#event<Name>(own, signal), failed as never)
      if (objection)
        throw new HermesError((objection as Objection).reason, { code, details: { extension: hook.owner } })
    }
  }

  /** What the first handler that has an answer says of a message in a chat. Never rejects. */
  async verdict(own: Own<'chat-message'>, signal: AbortSignal): Promise<ChatMessageVerdict | undefined> {
    const hooks = this.#hooks.at('chat-message')
    if (hooks.length === 0) return undefined
    for await (const { result } of transformations(hooks, 'chat-message', () =>
      this.#event<'chat-message'>(own, signal),
    ))
      return result
    return undefined
  }

  #event<Name extends HookName>(own: Own<Name>, signal: AbortSignal): Parameters<HookHandlers[Name]>[0] {
    return { ...own, signal, clock: this.#clock, logger: this.#logger } as unknown as Parameters<HookHandlers[Name]>[0]
  }
}

/** What is done has been done, whoever is interrupted since. */
const NEVER = new AbortController().signal
