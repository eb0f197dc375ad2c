import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { changeText, type Snapshot, viewText } from '../page/snapshot-text.js'
import type { BrowserSession } from '../session/browser-session.js'
import type { Tab } from '../session/tab.js'

const LEFT_OUT = /^(?:\((?:above|below): |… \d+ more row)/m

/** What is shown of a page. Where that leaves lines out, all of them are in a file, which it names. `before`: as for {@link viewText}. */
export async function shownPage(session: BrowserSession, tab: Tab, before: Snapshot | null = null): Promise<string> {
  return pageText(session, tab, { snapshot: await tab.snapshot(), before })
}

/** What came of an action on a page: what changed, or the page where that is nearly all. */
export async function shownChanges(session: BrowserSession, tab: Tab): Promise<string> {
  const before = tab.latest
  const snapshot = await tab.snapshot()
  return (before && changeText(before, snapshot)) ?? pageText(session, tab, { snapshot, before })
}

async function pageText(
  session: BrowserSession,
  tab: Tab,
  { snapshot, before }: { readonly snapshot: Snapshot; readonly before: Snapshot | null },
): Promise<string> {
  const text = viewText(snapshot, before)
  if (!LEFT_OUT.test(text)) return text
  // Where its folder is was said with the first page of the tab.
  const isKnown = tab.wholePage !== null
  const path = await keepWhole(session, tab, snapshot)
  return `${text}\n(all ${snapshot.lines.length} lines: ${isKnown ? basename(path) : path})`
}

/** Writes all lines of a page to the file of its tab, in place of those before. Resolves with its path. */
export async function keepWhole(session: BrowserSession, tab: Tab, { lines }: Snapshot): Promise<string> {
  tab.wholePage ??= await session.downloads.newFile('whole-page.txt')
  await writeFile(tab.wholePage, session.shown(`${lines.join('\n')}\n`), { mode: 0o600 })
  return tab.wholePage
}
