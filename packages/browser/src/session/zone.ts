import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { DocumentGuard, Watched } from '../guard/document-guard.js'
import { type Connect, type LoopbackProxy, startProxy } from '../guard/proxy.js'

/**
 * Pages of the public web and those of this machine or its networks never share a context: what the one may reach, the other may not, whatever
 * a page tries.
 */
export type ZoneKind = 'public' | 'near'

/** Cookies and pages of one kind, and the only way they have out. */
export interface Zone {
  readonly kind: ZoneKind
  readonly context: BrowserContext
  readonly contextId: string
  /** In the browser of this machine. */
  readonly isHere: boolean
  /** The browser's own name for one of its pages. */
  targetOf(page: Page): Promise<string>
  close(): Promise<void>
}

/** What {@link openZone} needs. */
interface ZoneOptions {
  readonly kind: ZoneKind
  readonly browser: Browser
  readonly guard: DocumentGuard
  /** `null` for a browser elsewhere, which connects by itself. */
  readonly connect: Connect | null
  readonly watched: Watched
  /** Cookies and storage to begin with. */
  readonly storageState?: Awaited<ReturnType<BrowserContext['storageState']>> | undefined
}

const VIEWPORT = { width: 1280, height: 800 }

/** A context behind a proxy of its own, with one empty page. */
export async function openZone(options: ZoneOptions): Promise<Zone> {
  const { kind, browser, guard, connect, watched, storageState } = options
  const proxy: LoopbackProxy | null = connect && (await startProxy(connect))
  try {
    const context = await browser.newContext({
      viewport: VIEWPORT,
      // A self-signed certificate is part of the question about a near address.
      ignoreHTTPSErrors: kind === 'near',
      ...(proxy
        ? { proxy: { server: `http://127.0.0.1:${proxy.port}`, bypass: '<-loopback>' } }
        : // A worker that serves pages would answer before anything is asked for.
          { serviceWorkers: 'block' as const }),
      ...(storageState ? { storageState } : {}),
    })
    const page = await context.newPage()
    const first = await targetInfoOf(page)
    const contextId = first.browserContextId!
    await guard.watch(contextId, watched)
    return {
      kind,
      context,
      contextId,
      isHere: proxy !== null,
      targetOf: async (one) => (one === page ? first : await targetInfoOf(one)).targetId,
      async close() {
        guard.forget(contextId)
        await context.close().catch(() => undefined)
        await proxy?.close()
      },
    }
  } catch (error) {
    await proxy?.close()
    throw error
  }
}

async function targetInfoOf(page: Page) {
  const session = await page.context().newCDPSession(page)
  const { targetInfo } = await session.send('Target.getTargetInfo')
  void session.detach().catch(() => undefined)
  return targetInfo
}
