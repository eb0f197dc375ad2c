import { HermesError } from '@hermes/contracts'
import type { Tool } from '@hermes/contracts/tool'
import type { Frame, Page } from 'playwright-core'
import { findText, partText } from '../page/snapshot-text.js'
import type { BrowserSession } from '../session/browser-session.js'
import type { BrowserSessions } from '../session/sessions.js'
import type { Tab } from '../session/tab.js'
import { browserTool } from './browser-tool.js'
import { keepWhole, shownPage } from './shown-page.js'

const MOST_WAIT_S = 60
const ERROR_PAGE_MS = 2_000

/** Opening pages and looking at them. */
export function lookTools(sessions: BrowserSessions): readonly Tool[] {
  return [
    browserTool<{ readonly url: string }>(sessions, {
      name: 'browser_navigate',
      description:
        'Open a page in the browser and see what is on it. Elements to act on have references such as [e12]. For reading alone web tools are cheaper.',
      properties: { url: { type: 'string', description: 'http or https' } },
      required: ['url'],
      looks: true,
      actions: ({ url }, { sessionId }) => {
        const address = addressOf(url)
        const { gate } = sessions.get(sessionId)
        return gate.isAllowed(address) ? [] : [gate.fetchOf(address, 'GET')]
      },
      async act({ url }, session, { signal }) {
        const address = addressOf(url)
        if (!(await session.gate.speech.mayName(address)))
          throw new HermesError('The address was not opened: it carries what was read elsewhere.', {
            code: 'policy.denied',
          })
        const camofox = await session.camofoxFor(address)
        if (camofox === null) return navigate(session, address, signal)
        const { actInCamofox } = await import('../camofox/camofox-tools.js')
        const text = await actInCamofox('browser_navigate', camofox, { args: { url: address }, signal })
        session.tellOfCamofox()
        return text
      },
    }),
    browserTool<{ readonly more: number; readonly find?: string; readonly scope?: string }>(sessions, {
      name: 'browser_snapshot',
      description:
        'See the page as it is: what is in the window, with all lines that were left out as before, or one part of it.',
      properties: {
        more: { type: 'integer', minimum: 0, default: 0, description: 'the whole page in parts, from 1' },
        find: { type: 'string', description: 'lines that hold this text' },
        scope: { type: 'string', description: 'what is within this element, such as e12' },
      },
      looks: true,
      async act({ more, find, scope }, session) {
        const tab = await session.page()
        if (find === undefined && more === 0 && scope === undefined) return shownPage(session, tab)
        const snapshot = await tab.snapshot(scope)
        if (find !== undefined) return findText(snapshot, find)
        const part = partText(snapshot, Math.max(1, more))
        if (more !== 1 || scope !== undefined) return part
        return `${part}\n(all ${snapshot.lines.length} lines: ${await keepWhole(session, tab, snapshot)})`
      },
    }),
    browserTool<{ readonly direction: 'up' | 'down'; readonly ref?: string }>(sessions, {
      name: 'browser_scroll',
      description: 'Scroll the page, or what holds an element, by a screen.',
      properties: {
        direction: { type: 'string', enum: ['down', 'up'] },
        ref: { type: 'string', description: 'such as e12; default: the page' },
      },
      required: ['direction'],
      looks: true,
      async act({ direction, ref }, session, { signal }) {
        const tab = await session.page()
        tab.mark()
        await tab.scroll({ by: direction === 'up' ? -0.85 : 0.85, ...(ref === undefined ? {} : { ref }) })
        await tab.settle(signal)
        return shownPage(session, tab)
      },
    }),
    browserTool<object>(sessions, {
      name: 'browser_back',
      description: 'Go back to the page before.',
      looks: true,
      async act(_args, session, { signal }) {
        const tab = await session.page()
        tab.mark()
        const response = await tab.page.goBack({ waitUntil: 'commit', timeout: 0 })
        if (response === null && tab.page.url() === 'about:blank')
          throw new HermesError('There is no page before this one.', { code: 'browser.no_page' })
        await tab.settle(signal)
        return shownPage(session, tab)
      },
    }),
    browserTool<TabsArgs>(sessions, {
      name: 'browser_tabs',
      description:
        'List the open tabs, select one, close one. A delegated task has pages of its own, unless you hand it these: hand gives a key for its context, and it takes them with that.',
      properties: {
        action: { type: 'string', enum: ['list', 'select', 'close', 'hand', 'take'], default: 'list' },
        tab: { type: 'integer', description: 'its number' },
        key: { type: 'string', description: 'to take' },
      },
      looks: true,
      despiteDialog: true,
      async act({ action, tab, key }, session, { call }) {
        if (action === 'hand') {
          await session.page()
          return `Say in the context of the task: work in my pages, which browser_tabs gives you with action take and key ${sessions.offer(call.sessionId)}.`
        }
        if (action !== 'take') return tabs(session, action, tab)
        await sessions.take(call.sessionId, key ?? '')
        return 'The next call works in the pages of who gave you the key.'
      },
    }),
    browserTool<{ readonly seconds?: number; readonly text?: string; readonly gone: boolean }>(sessions, {
      name: 'browser_wait',
      description: 'Wait for a text to appear on the page or to go, or for some seconds.',
      properties: {
        text: { type: 'string' },
        gone: { type: 'boolean', default: false, description: 'until the text is gone' },
        seconds: { type: 'number', minimum: 0, maximum: MOST_WAIT_S, description: 'at most; default 10' },
      },
      looks: true,
      act: (args, session, { signal }) => wait(session, args, signal),
    }),
    browserTool<{ readonly clear: boolean }>(sessions, {
      name: 'browser_console',
      description: 'Errors that the pages wrote to their console.',
      properties: { clear: { type: 'boolean', default: false } },
      looks: true,
      despiteDialog: true,
      async act({ clear }, session) {
        const lines = session.console.slice(-50)
        if (clear) session.clearConsole()
        return lines.length === 0 ? 'No errors.' : lines.join('\n')
      },
    }),
    browserTool<object>(sessions, {
      name: 'browser_get_images',
      description: 'List the images of the page with their addresses.',
      looks: true,
      async act(_args, session) {
        const images = await (await session.page()).images()
        if (images.length === 0) return 'The page has no images.'
        return images
          .map(
            ({ src, alt, width, height }) =>
              `${width}x${height} ${alt === '' ? '' : `${JSON.stringify(alt)} `}${src.slice(0, 300)}`,
          )
          .join('\n')
      },
    }),
  ]
}

interface TabsArgs {
  readonly action: 'list' | 'select' | 'close' | 'hand' | 'take'
  readonly tab?: number
  readonly key?: string
}

/** An address as a person writes it. @throws HermesError `browser.bad_address`. */
function addressOf(text: string): string {
  const trimmed = text.trim()
  const isBare = !/^[a-z][a-z\d+.-]*:/i.test(trimmed) || /^[\w.-]+:\d+(?:\/|$)/.test(trimmed)
  const isNear = /^(?:localhost|127\.|\[::1\])/.test(trimmed)
  const whole = isBare ? `${isNear ? 'http' : 'https'}://${trimmed}` : trimmed
  if (URL.canParse(whole) && /^https?:$/.test(new URL(whole).protocol)) return new URL(whole).href
  throw new HermesError(`${trimmed.slice(0, 100)} is not opened: the browser opens http and https addresses only.`, {
    code: 'browser.bad_address',
  })
}

/** What an address gives that leads to no page. */
const FILE = 'file'

async function navigate(session: BrowserSession, url: string, signal: AbortSignal): Promise<string> {
  let tab = await session.pageFor(url)
  const [from, before] = [tab, tab.latest]
  await session.gate.speech.leave(tab)
  const { begun } = session.downloads
  let status = await load(tab, url, signal).catch(async (error: unknown) => {
    if (error instanceof Error && error.message.includes('Download is starting')) {
      await session.downloads.beyond(begun, signal)
      return FILE
    }
    const out = session.takeLeadingOut()
    if (out === null) throw error
    return out
  })
  if (status === FILE) return 'The address is a file: it was downloaded, and the page stayed as it was.'
  for (let hops = 0; typeof status === 'string' && hops < 3; hops++) {
    tab = await session.pageFor(status)
    status = await load(tab, status, signal)
  }
  const shown = await shownPage(session, tab, tab === from ? before : null)
  const isBad = typeof status === 'number' && status >= 400
  return `${isBad ? `The server answered ${status}.\n` : ''}${shown}`
}

/** The status of the document; 0 where there is none. */
async function load(tab: Tab, url: string, signal: AbortSignal): Promise<number | string> {
  tab.mark()
  const standing = standsInPlace(tab.page)
  try {
    const response = await tab.page.goto(url, { waitUntil: 'commit', timeout: 0 })
    await tab.settle(signal)
    return response?.status() ?? 0
  } catch (error) {
    // A page of the browser's own takes the place of what failed, and would do so to whatever is opened next.
    if (error instanceof Error && /net::ERR_(?!ABORTED)/.test(error.message))
      await standing.within(ERROR_PAGE_MS, signal)
    throw error
  } finally {
    standing.stop()
  }
}

/** Hears of the page that the browser shows in place of one that failed. */
function standsInPlace(page: Page) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const heard = (frame: Frame) => {
    if (frame === page.mainFrame() && frame.url().startsWith('chrome-error:')) resolve()
  }
  page.on('framenavigated', heard)
  return {
    async within(ms: number, signal: AbortSignal) {
      const late = AbortSignal.any([signal, AbortSignal.timeout(ms)])
      late.addEventListener('abort', () => resolve(), { once: true })
      await promise
    },
    stop: () => void page.off('framenavigated', heard),
  }
}

async function tabs(session: BrowserSession, action: string, number?: number): Promise<string> {
  const list = async () => {
    const lines = await Promise.all(
      session.tabs.map(async (tab) => {
        const title = session.dialog ? '' : await tab.page.title().catch(() => '')
        return `${session.isCurrent(tab) ? '*' : ' '} ${tab.number}: ${title.slice(0, 80)} ${tab.page.url().slice(0, 200)}`
      }),
    )
    return lines.length === 0 ? 'No tab is open.' : lines.join('\n')
  }
  if (action === 'list') return list()
  if (number === undefined) throw new HermesError('Say which tab, by its number.', { code: 'browser.no_page' })
  const tab = session.switchTo(number)
  if (action === 'close') {
    await tab.page.close()
    return list()
  }
  if (session.dialog) return list()
  return shownPage(session, tab)
}

async function wait(
  session: BrowserSession,
  { text, gone, seconds = 10 }: { readonly text?: string; readonly gone: boolean; readonly seconds?: number },
  signal: AbortSignal,
): Promise<string> {
  const tab = await session.page()
  const end = performance.now() + seconds * 1000
  let isThere = text === undefined ? null : (await tab.shows(text)) !== gone
  while (isThere !== true && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    signal.throwIfAborted()
    if (text !== undefined) isThere = (await tab.shows(text)) !== gone
  }
  const line =
    isThere === false ? `${JSON.stringify(text)} is ${gone ? 'still' : 'not'} there after ${seconds} s.\n` : ''
  return `${line}${await shownPage(session, tab)}`
}
