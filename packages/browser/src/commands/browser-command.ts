import { HermesError } from '@hermes/contracts'
import type { CommandResult, ExtensionApi } from '@hermes/contracts/extension'
import type { BrowserOptions } from '../browser-options.js'
import { findBrowser } from '../launch/find-browser.js'
import { removeLeftFolders, runningOwners } from '../launch/profile-folder.js'
import { NO_SANDBOX } from '../session/notices.js'
import type { BrowserSessions } from '../session/sessions.js'
import type { BrowserSettings } from '../settings.js'

/** What the command works with. */
interface BrowserCommandParts {
  readonly sessions: BrowserSessions
  readonly options: BrowserOptions
  readonly settings: () => BrowserSettings
}

const VERBS = ['status', 'close']

/** Adds `/browser`, which `hermes browser` is too. */
export function browserCommand(api: ExtensionApi, parts: BrowserCommandParts): void {
  api.commands.add({
    name: 'browser',
    summary: 'the browser and its pages: status, close',
    usage: '[status | close]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: { words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') } },
    },
    complete: (words) => (words.length === 0 ? VERBS : []),
    run(args): Promise<CommandResult> {
      const [verb = 'status'] = args['words'] as readonly string[]
      if (verb === 'status') return status(parts)
      if (verb === 'close') return close(parts)
      throw new HermesError(`There is no "/browser ${verb}". It can be ${VERBS.join(', ')}.`, { code: 'command.usage' })
    },
  })
}

async function status({ sessions, options, settings }: BrowserCommandParts): Promise<CommandResult> {
  const { env, isRoot, cacheDir } = options
  const program = await findBrowser({ env, executable: settings().executable })
  const others = (await runningOwners(cacheDir)).filter((pid) => pid !== process.pid)
  const rows = sessions.list().flatMap(([id, session]) =>
    session.tabs.map((tab) => ({
      cells: [id, String(tab.number), tab.page.url().slice(0, 200)],
      isCurrent: session.isCurrent(tab),
      data: { session: id, tab: tab.number, url: tab.page.url() },
    })),
  )
  const state = sessions.isRunning ? 'It runs.' : 'It starts with the first page.'
  return [
    { type: 'text', text: `Browser: ${program}. ${state}${isRoot ? `\n${NO_SANDBOX}` : ''}` },
    ...(others.length > 0
      ? [{ type: 'text', text: `Other Hermes processes with a browser: ${others.join(', ')}.` } as const]
      : []),
    { type: 'table', rows, empty: 'No page is open here.' },
  ]
}

async function close({ sessions, options }: BrowserCommandParts): Promise<CommandResult> {
  const open = sessions.list()
  await Promise.all(open.map(([id]) => sessions.end(id)))
  const left = await removeLeftFolders(options.cacheDir)
  const others = (await runningOwners(options.cacheDir)).filter((pid) => pid !== process.pid)
  const closed = open.length === 0 ? 'No page was open here.' : `Closed the pages of ${open.length} sessions.`
  const removed = left.length === 0 ? '' : ` Removed ${left.length} folders that ended processes had left.`
  const more = others.length === 0 ? '' : ` The browser of process ${others.join(', ')} ends with it.`
  return { type: 'text', text: `${closed}${removed}${more}` }
}
