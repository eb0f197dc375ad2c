import { errorLine } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import type { BrowserOptions } from './browser-options.js'
import { findBrowser } from './launch/find-browser.js'
import { NO_SANDBOX } from './session/notices.js'
import type { BrowserSessions } from './session/sessions.js'
import type { BrowserSettings } from './settings.js'

/** Of no page: an empty one is opened in its place. */
const EXAMPLE = 'https://example.com/'

/** What stands in the way of opening pages on this machine. Rejects with `browser.not_installed` where there is no browser. */
export async function browserFindings(
  { env, isRoot }: Pick<BrowserOptions, 'env' | 'isRoot'>,
  { executable }: Pick<BrowserSettings, 'executable'>,
): Promise<readonly Finding[]> {
  const program = await findBrowser({ env, executable })
  return [
    { level: 'ok', text: `Browser: ${program}` },
    ...(isRoot ? [{ level: 'warn', text: NO_SANDBOX } as const] : []),
  ]
}

/** Whether the browser of this machine starts and opens an empty page, which takes no network. Never rejects. */
export async function tryBrowser(sessions: BrowserSessions): Promise<Finding> {
  try {
    await sessions.once((session) => session.newPageFor(EXAMPLE))
    return { level: 'ok', text: 'It starts, and opens a page.' }
  } catch (error) {
    return { level: 'fail', text: errorLine(error) }
  }
}
