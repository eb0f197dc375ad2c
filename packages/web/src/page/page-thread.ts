import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { HermesError } from '@hermes/contracts'
import type { PageText } from './html-to-markdown.js'

/** Turns pages into Markdown apart from the event loop: a page that takes too long, or too much memory, is given up. */
export interface PageThread {
  /** Rejects with `web.unreadable` for a page that takes too much, and with the abort. */
  read(html: string, url: string, signal: AbortSignal): Promise<PageText>
  /** Ends it. Never rejects. */
  close(): Promise<void>
}

interface PageLimits {
  /** For one page. Default 15,000. */
  readonly timeoutMs?: number
  /** Megabytes of its heap. Default 384. */
  readonly maxMegabytes?: number
}

/** A thread that has nothing to do ends after that. */
const IDLE_MS = 60_000

// Kept as text, so that bundles need no further file. Sources name the files that they become.
const RUN = `
const { parentPort, workerData } = require('node:worker_threads')
require('node:module').registerHooks?.({
  resolve: (name, context, next) =>
    next(/^\\..*\\.js$/.test(name) && context.parentURL?.endsWith('.ts') ? name.slice(0, -2) + 'ts' : name, context),
})
const loaded = import(workerData)
parentPort.on('message', async ({ html, url }) => {
  try {
    parentPort.postMessage({ page: await (await loaded).readHtml(html, url) })
  } catch (error) {
    parentPort.postMessage({ error: String(error) })
  }
})
`

/** A thread that starts with the first page. Pages are read one after the other. */
export function createPageThread({ timeoutMs = 15_000, maxMegabytes = 384 }: PageLimits = {}): PageThread {
  let worker: Worker | null = null
  let before: Promise<unknown> = Promise.resolve()
  let idle: ReturnType<typeof setTimeout> | undefined
  const end = async () => {
    const ended = worker
    worker = null
    await ended?.terminate()
  }
  const start = async () => {
    const [threads, { pageModule }] = await Promise.all([import('node:worker_threads'), import('./page-module.js')])
    const started = new threads.Worker(RUN, {
      eval: true,
      execArgv: [],
      env: {},
      workerData: pageModule,
      resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
    })
    started.unref()
    started.once('exit', () => {
      if (worker === started) worker = null
    })
    return started
  }
  const read = async (html: string, url: string, signal: AbortSignal): Promise<PageText> => {
    signal.throwIfAborted()
    clearTimeout(idle)
    worker ??= await start()
    const limit = AbortSignal.timeout(timeoutMs)
    const used = worker
    used.ref()
    try {
      used.postMessage({ html, url })
      const [answer] = await once(used, 'message', { signal: AbortSignal.any([signal, limit]) })
      const { page, error } = answer as { readonly page?: PageText; readonly error?: string }
      if (page) return page
      throw tooHard(url, error ?? 'it cannot be taken apart')
    } catch (error) {
      if (HermesError.isInstance(error)) throw error
      // After a limit the thread can only be ended.
      await end()
      signal.throwIfAborted()
      throw tooHard(url, limit.aborted ? `it takes more than ${timeoutMs / 1_000} s` : 'it takes too much memory')
    } finally {
      used.unref()
      idle = setTimeout(() => void end(), IDLE_MS).unref()
    }
  }
  return {
    read(html, url, signal) {
      const next = before.then(() => read(html, url, signal))
      before = next.catch(() => undefined)
      return next
    },
    async close() {
      clearTimeout(idle)
      await end()
    },
  }
}

const tooHard = (url: string, why: string) =>
  new HermesError(`The page ${url} cannot be turned into text: ${why}.`, { code: 'web.unreadable' })
