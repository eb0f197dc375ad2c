import { HermesError } from '@hermes/contracts'
import type { WebCall } from '@hermes/contracts/web'
import type { BrowserSessions } from './sessions.js'

/** A page has some words by then, or is taken as it is. */
const WORDS_WITHIN_MS = 4_000
const HAS_WORDS = 'document.body !== null && document.body.innerText.trim().length > 250'

/** The document that an address became once its scripts have run and the page has come to rest. */
export function renderPage(
  sessions: BrowserSessions,
  url: string,
  call: WebCall,
): Promise<{ readonly url: string; readonly html: string }> {
  return sessions.once(async (session) => {
    const { promise: shown, resolve } = Promise.withResolvers<{ readonly url: string; readonly html: string } | null>()
    const text = await session.run(call, async (signal) => {
      const tab = await session.pageFor(url)
      tab.mark()
      await tab.page.goto(url, { waitUntil: 'commit', timeout: 0 })
      await tab.settle(signal)
      await tab.page.waitForFunction(HAS_WORDS, undefined, { timeout: WORDS_WITHIN_MS }).catch(() => undefined)
      await tab.settle(signal)
      resolve({ url: tab.page.url(), html: await tab.page.content() })
      return ''
    })
    // A dialog ends a call before its work.
    resolve(null)
    const page = await shown
    if (page) return page
    throw new HermesError(`${url} could not be shown in the browser: ${text || 'it did not say why'}`, {
      code: 'browser.page_failed',
    })
  })
}
