import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Tool } from '@hermes/contracts/tool'
import type { BrowserSessions } from '../session/sessions.js'
import { browserTool } from './browser-tool.js'

const MOST_CHARS = 15_000

/** Of the page alone. What reaches other sessions, files, or where pages may go is not among them. */
const DOMAINS: ReadonlySet<string> = new Set(
  'Accessibility Animation Audits CSS DOM DOMDebugger DOMSnapshot Emulation Input LayerTree Log Memory Overlay Performance PerformanceTimeline Profiler Runtime'.split(
    ' ',
  ),
)
const METHODS: ReadonlySet<string> = new Set(
  'Network.enable Network.disable Network.getResponseBody Network.emulateNetworkConditions Page.captureScreenshot Page.printToPDF Page.getLayoutMetrics Page.getFrameTree Page.getResourceTree Page.getNavigationHistory Page.bringToFront'.split(
    ' ',
  ),
)
/** It reads files of this machine past the policy. */
const REFUSED: ReadonlySet<string> = new Set(['DOM.setFileInputFiles', 'Input.setInterceptDrags'])

/** The protocol of the browser itself, for the page that is open; only where the person allows it. */
export function cdpTool(sessions: BrowserSessions): Tool {
  return browserTool<{ readonly method: string; readonly params: JsonObject }>(sessions, {
    name: 'browser_cdp',
    description:
      'Call one method of the DevTools protocol on the page, such as Runtime.evaluate, for what no other tool does.',
    properties: {
      method: { type: 'string' },
      params: { type: 'object', default: {}, additionalProperties: true },
    },
    required: ['method'],
    actions: ({ method }) => [{ type: 'send', target: `browser-cdp:${method}`, chosen: 'acts' }],
    async act({ method, params }, session, { signal }) {
      const [domain = ''] = method.split('.')
      if (REFUSED.has(method) || !(DOMAINS.has(domain) || METHODS.has(method)))
        throw new HermesError(
          `${method} is not called: it is of more than the page. It can be of ${[...DOMAINS].join(', ')}, or ${[...METHODS].join(', ')}.`,
          { code: 'browser.cdp_refused' },
        )
      const tab = await session.page()
      // What the agent writes in it is text that the page gets.
      await session.gate.speech.give(tab, JSON.stringify(params))
      const wire = await tab.page.context().newCDPSession(tab.page)
      try {
        const result = await wire.send(method as 'Runtime.evaluate', params as never)
        await tab.settle(signal)
        const text = JSON.stringify(result)
        return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}… (${text.length} characters)` : text
      } catch (error) {
        const [line = ''] = error instanceof Error ? error.message.split('\n') : []
        throw new HermesError(`${method}: ${line.replace(/^.*Protocol error \([\w.]+\): /, '')}`, {
          code: 'browser.cdp_failed',
          cause: error,
        })
      } finally {
        await wire.detach().catch(() => undefined)
      }
    },
  })
}
