import { join } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import type { CommandResult, ExtensionApi } from '@hermes/contracts/extension'
import type { BrowserOptions } from '../browser-options.js'
import { hostOf, type Place } from '../cloud/choose-place.js'
import { CAMOFOX, CLOUDS } from '../cloud/cloud-vendors.js'
import { browserFindings, tryBrowser } from '../doctor.js'
import { findBrowser } from '../launch/find-browser.js'
import { removeLeftFolders, runningOwners } from '../launch/profile-folder.js'
import type { BrowserProcess } from '../session/browser-process.js'
import { NO_SANDBOX } from '../session/notices.js'
import type { BrowserSessions } from '../session/sessions.js'
import type { BrowserSettings } from '../settings.js'

/** What the command works with. */
interface BrowserCommandParts {
  readonly sessions: BrowserSessions
  readonly options: BrowserOptions
  readonly settings: () => BrowserSettings
}

const VERBS = ['status', 'connect', 'disconnect', 'close', 'doctor']
const USUAL_ADDRESS = 'http://127.0.0.1:9222'

/** Adds `/browser`, which `hermes browser` is too. */
export function browserCommand(api: ExtensionApi, parts: BrowserCommandParts): void {
  api.commands.add({
    name: 'browser',
    summary: 'the browser and its pages: status, connect, disconnect, close',
    usage: '[status | connect [ADDRESS] | disconnect | close | doctor]',
    duringRun: 'allowed',
    needsSession: false,
    parameters: {
      type: 'object',
      properties: { words: { type: 'array', items: { type: 'string' }, default: [], description: VERBS.join(', ') } },
    },
    complete: (words) => (words.length === 0 ? VERBS : []),
    run(args): Promise<CommandResult> {
      const [verb = 'status', address] = args['words'] as readonly string[]
      if (verb === 'status') return status(parts)
      if (verb === 'connect') return connect(parts, address ?? USUAL_ADDRESS)
      if (verb === 'disconnect') return disconnect(parts)
      if (verb === 'close') return close(parts)
      if (verb === 'doctor') return doctor(parts)
      throw new HermesError(`There is no "/browser ${verb}". It can be ${VERBS.join(', ')}.`, { code: 'command.usage' })
    },
  })
}

async function status({ sessions, options, settings }: BrowserCommandParts): Promise<CommandResult> {
  const { env, isRoot, cacheDir } = options
  const others = (await runningOwners(cacheDir)).filter((pid) => pid !== process.pid)
  const rows = sessions.list().flatMap(([id, session]) =>
    session.tabs.map((tab) => ({
      cells: [id, String(tab.number), tab.page.url().slice(0, 200)],
      isCurrent: session.isCurrent(tab),
      data: { session: id, tab: tab.number, url: tab.page.url() },
    })),
  )
  const place = await sessions.place()
  const program = await findBrowser({ env, executable: settings().executable }).catch((error: Error) => {
    if (place.type === 'local') throw error
    return null
  })
  const elsewhere = place.type === 'local' ? [] : [`Pages of the public web: ${nameOf(place)}.`]
  const running = (await sessions.running()).map((one) => runningLine(one, options.clock.now()))
  const { aside } = sessions.leases
  if (aside) running.push(paidLine(CLOUDS[aside.lease.cloud].label, aside.lease.sinceMs, options.clock.now()))
  const released = sessions.leases.costs()
  const recorded = settings().recordsSessions ? recordingLines(sessions, options.recordingDir) : []
  const text = [
    ...elsewhere,
    program === null ? 'There is no browser on this machine.' : `Browser: ${program}.`,
    ...(running.length === 0 ? ['It starts with the first page.'] : running),
    ...released,
    ...recorded,
    ...(isRoot ? [NO_SANDBOX] : []),
    ...(others.length > 0 ? [`Other Hermes processes with a browser: ${others.join(', ')}.`] : []),
  ]
  return [
    { type: 'text', text: text.join('\n') },
    { type: 'table', rows, empty: 'No page is open here.' },
  ]
}

function recordingLines(sessions: BrowserSessions, folder: string): readonly string[] {
  const running = sessions
    .list()
    .flatMap(([id, { recordingFolder }]) =>
      recordingFolder === null ? [] : [`Session ${id}: ${join(recordingFolder, 'index.html')}.`],
    )
  return [`Sessions are recorded, each in a folder of ${folder} that is kept for 72 hours.`, ...running]
}

function runningLine({ where, label, sinceMs }: BrowserProcess, nowMs: number): string {
  if (where.type === 'local') return 'It runs.'
  return where.type === 'cloud' ? paidLine(label, sinceMs, nowMs) : `${label} runs for ${minutesSince(sinceMs, nowMs)}.`
}

/** Since when one runs: clouds are paid by that. */
const paidLine = (label: string, sinceMs: number, nowMs: number) =>
  `${label} runs for ${minutesSince(sinceMs, nowMs)}, which are paid.`

function minutesSince(sinceMs: number, nowMs: number): string {
  const minutes = Math.max(1, Math.ceil((nowMs - sinceMs) / 60_000))
  return `${minutes} minute${minutes === 1 ? '' : 's'}`
}

function nameOf(place: Place): string {
  switch (place.type) {
    case 'cloud':
      return CLOUDS[place.cloud].label
    case 'address':
      return hostOf(place.address)
    case 'camofox':
      return CAMOFOX.label
    case 'local':
      return 'here'
  }
  return place satisfies never
}

async function connect({ sessions }: BrowserCommandParts, address: string): Promise<CommandResult> {
  const url = URL.parse(address.includes('://') ? address : `http://${address}`)
  if (!url || !/^(?:wss?|https?):$/.test(url.protocol))
    throw new HermesError(`${address.slice(0, 100)} is no address of a browser, such as ${USUAL_ADDRESS}.`, {
      code: 'command.usage',
    })
  await sessions.connect(address)
  return {
    type: 'text',
    text: `Pages of the public web open in the browser at ${url.host} from now on, each session with cookies of its own. Pages of this machine stay here. /browser disconnect ends it.`,
  }
}

async function disconnect({ sessions }: BrowserCommandParts): Promise<CommandResult> {
  await sessions.connect(null)
  return { type: 'text', text: `Pages of the public web open ${describePlace(await sessions.place())} from now on.` }
}

const describePlace = (place: Place) =>
  place.type === 'local' ? 'in the browser of this machine' : `by ${nameOf(place)}`

async function doctor({ sessions, options, settings }: BrowserCommandParts): Promise<CommandResult> {
  try {
    const found = await browserFindings(options, settings())
    return { type: 'findings', findings: [...found, await tryBrowser(sessions)] }
  } catch (error) {
    return { type: 'findings', findings: [{ level: 'fail', text: errorLine(error) }] }
  }
}

async function close({ sessions, options }: BrowserCommandParts): Promise<CommandResult> {
  const open = sessions.list()
  await Promise.all(open.map(([id]) => sessions.end(id)))
  await sessions.leases.releaseLeft()
  const left = await removeLeftFolders(options.cacheDir)
  const others = (await runningOwners(options.cacheDir)).filter((pid) => pid !== process.pid)
  const closed = open.length === 0 ? 'No page was open here.' : `Closed the pages of ${open.length} sessions.`
  const removed = left.length === 0 ? '' : ` Removed ${left.length} folders that ended processes had left.`
  const more = others.length === 0 ? '' : ` The browser of process ${others.join(', ')} ends with it.`
  return { type: 'text', text: `${closed}${removed}${more}` }
}
