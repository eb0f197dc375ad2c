import { HermesError } from '@hermes/contracts'
import { PAGE_SCRIPT } from '../generated/page-script.js'
import type { DocumentGuard } from '../guard/document-guard.js'
import type { CdpHub } from '../wire/cdp-hub.js'
import type { PageScript } from './page-node.js'

/** A frame of a page: who can speak with it. */
interface World {
  readonly sessionId: string
  readonly contextId: number
}

/** Where a frame stands in the page. */
export interface FramePlace {
  readonly frameId: string
  /** The frame around it, and its element there; `null` for the page itself. */
  readonly parent: { readonly place: FramePlace; readonly ref: string } | null
}

/** The isolated worlds of one page, a frame each. */
export class Worlds {
  readonly #hub: CdpHub
  readonly #guard: DocumentGuard
  readonly #worlds = new Map<string, World>()

  constructor(hub: CdpHub, guard: DocumentGuard) {
    this.#hub = hub
    this.#guard = guard
  }

  /** Calls a function of the page script in a frame. @throws HermesError `browser.page_failed` when the document is gone or broken. */
  async call<Name extends keyof PageScript>(
    place: FramePlace,
    name: Name,
    ...args: Parameters<PageScript[Name]>
  ): Promise<Awaited<ReturnType<PageScript[Name]>>> {
    // As text: of thousands of lines the protocol makes values one by one, which takes several times as long.
    const expression = `(async () => JSON.stringify({ value: await ${callText(name, args)} }))()`
    const result = await this.#evaluate(place, expression, { returnByValue: true })
    return (JSON.parse(result.value as string) as { readonly value: Awaited<ReturnType<PageScript[Name]>> }).value
  }

  /** The frame whose element is the `index`-th of those last collected; `null` when it has no document. */
  async frameAt(
    place: FramePlace,
    { index, ref }: { readonly index: number; readonly ref: string },
  ): Promise<FramePlace | null> {
    const { objectId } = await this.#evaluate(place, callText('frameAt', [index]))
    if (objectId === undefined) return null
    const { sessionId } = await this.#world(place)
    const { node } = await this.#hub.call('DOM.describeNode', { objectId }, sessionId)
    const frameId = (node as { readonly frameId?: string }).frameId
    return frameId === undefined ? null : { frameId, parent: { place, ref } }
  }

  /** The session that speaks with a frame. */
  async sessionOf(place: FramePlace): Promise<string> {
    return (await this.#world(place)).sessionId
  }

  async #evaluate(
    place: FramePlace,
    expression: string,
    options: object = {},
  ): Promise<{ readonly value?: unknown; readonly objectId?: string }> {
    for (let tries = 0; ; tries++) {
      const { sessionId, contextId } = await this.#world(place)
      try {
        const answer = await this.#hub.call(
          'Runtime.evaluate',
          { expression, contextId, awaitPromise: true, ...options },
          sessionId,
        )
        const { result, exceptionDetails } = answer as {
          readonly result: { readonly value?: unknown; readonly objectId?: string }
          readonly exceptionDetails?: { readonly exception?: { readonly description?: string } }
        }
        if (!exceptionDetails) return result
        throw pageFailed(exceptionDetails.exception?.description?.split('\n')[0] ?? 'a script failed')
      } catch (error) {
        // Another document stands there by now.
        const isOver = HermesError.isInstance(error) && error.code === 'browser.protocol'
        if (!isOver) throw error
        this.#worlds.delete(place.frameId)
        if (tries > 2) throw pageFailed('its document changes again and again')
      }
    }
  }

  async #world(place: FramePlace): Promise<World> {
    const known = this.#worlds.get(place.frameId)
    if (known) return known
    const sessionId = this.#sessionOf(place)
    const made = await this.#hub.call(
      'Page.createIsolatedWorld',
      { frameId: place.frameId, worldName: 'hermes' },
      sessionId,
    )
    const contextId = made['executionContextId'] as number
    const expression = `globalThis.hermesPage = (${PAGE_SCRIPT})(); 0`
    await this.#hub.call('Runtime.evaluate', { expression, contextId }, sessionId)
    const world = { sessionId, contextId }
    this.#worlds.set(place.frameId, world)
    return world
  }

  #sessionOf({ frameId, parent }: FramePlace): string {
    const own = this.#guard.sessionOf(frameId)
    if (own !== null) return own
    if (parent) return this.#sessionOf(parent.place)
    throw pageFailed('it is gone')
  }
}

function callText(name: string, args: readonly unknown[]): string {
  return `hermesPage.${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`
}

function pageFailed(reason: string): HermesError {
  return new HermesError(`The page cannot be read: ${reason}. Try again, or open it anew.`, {
    code: 'browser.page_failed',
  })
}
