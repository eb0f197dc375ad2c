import { HermesError } from '@hermes/contracts'
import { changeText, findText, partText, viewText } from '../page/snapshot-text.js'
import type { CamofoxPages } from './camofox-pages.js'

const SCREEN_PIXELS = 600
const WAIT_STEP_MS = 250

/** Arguments of any of the tools, as their definitions have them. */
interface Args {
  readonly url: string
  readonly ref: string
  readonly text?: string
  readonly key: string
  readonly find?: string
  readonly scope?: string
  readonly direction: string
  readonly double: boolean
  readonly submit: boolean
  readonly gone: boolean
  readonly more: number
  readonly seconds?: number
}

type Act = (pages: CamofoxPages, args: Args, signal: AbortSignal) => Promise<string>

/** What tools of the browser do in Camofox. Those that its API has nothing for are not among them. */
const ACTS: Readonly<Record<string, Act>> = Object.freeze({
  async browser_navigate(pages, { url }) {
    await pages.open(url)
    return viewText(await pages.snapshot())
  },
  async browser_snapshot(pages, { more, find, scope }) {
    if (scope !== undefined) throw cannot('look at one element alone')
    const snapshot = await pages.snapshot()
    if (find !== undefined) return findText(snapshot, find)
    return more > 0 ? partText(snapshot, more) : viewText(snapshot)
  },
  async browser_click(pages, { ref, double }) {
    await pages.act('click', { ref, doubleClick: double })
    return `Clicked ${ref}.\n${await changes(pages)}`
  },
  async browser_type(pages, { ref, text = '', submit }) {
    await pages.give(text)
    await pages.act('type', { ref, text, clear: true })
    if (submit) await pages.act('press', { key: 'Enter' })
    return `Wrote into ${ref}.\n${await changes(pages)}`
  },
  async browser_press(pages, { key }) {
    if ([...key].length === 1) await pages.give(key)
    await pages.act('press', { key })
    return `Pressed ${key}.\n${await changes(pages)}`
  },
  async browser_scroll(pages, { direction, ref }) {
    if (ref !== undefined) throw cannot('scroll one element alone')
    await pages.act('scroll', { direction, amount: SCREEN_PIXELS })
    return viewText(await pages.snapshot())
  },
  async browser_back(pages) {
    await pages.act('back')
    return viewText(await pages.snapshot())
  },
  async browser_wait(pages, { text, gone, seconds = 10 }, signal) {
    const end = performance.now() + seconds * 1_000
    for (;;) {
      const snapshot = await pages.snapshot()
      const isThere = text !== undefined && snapshot.lines.some((line) => line.includes(text)) !== gone
      if (isThere || performance.now() >= end) return viewText(snapshot)
      await new Promise((resolve) => setTimeout(resolve, WAIT_STEP_MS))
      signal.throwIfAborted()
    }
  },
})

/** Does what a tool of the browser does. @throws HermesError `browser.cannot_act` for what the API of Camofox has nothing for. */
export async function actInCamofox(
  name: string,
  pages: CamofoxPages,
  { args, signal }: { args: unknown; signal: AbortSignal },
) {
  const act = ACTS[name]
  if (!act) throw cannot(`do ${name}`)
  // Its references are of the page that was closed.
  if (name !== 'browser_navigate' && (await pages.wake()) && (args as Partial<Args>).ref !== undefined)
    throw new HermesError(
      'The page had been closed while idle, and was opened again: its references are new. Look with browser_snapshot.',
      { code: 'browser.stale_ref' },
    )
  return act(pages, args as Args, signal)
}

const cannot = (what: string) =>
  new HermesError(`Camofox cannot ${what}: its API has nothing for it. browser.backend: local can.`, {
    code: 'browser.cannot_act',
  })

async function changes(pages: CamofoxPages): Promise<string> {
  const before = pages.latest
  const after = await pages.snapshot()
  return (before && changeText(before, after)) ?? viewText(after, before)
}
