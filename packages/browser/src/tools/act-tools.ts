import { HermesError } from '@hermes/contracts'
import type { Tool } from '@hermes/contracts/tool'
import type { BrowserSession } from '../session/browser-session.js'
import type { BrowserSessions } from '../session/sessions.js'
import type { Tab } from '../session/tab.js'
import { browserTool } from './browser-tool.js'
import { shownChanges, shownPage } from './shown-page.js'

/** How long an action waits for a file that it made the page download; the next answer tells of longer ones. */
const DOWNLOAD_MS = 2_000

/** What brings a text to a page that was written elsewhere. */
const PASTES = /^(?:(?:Control|Meta|ControlOrMeta)\+(?:Shift\+)?[Vv]|Shift\+Insert)$/

const REF = { type: 'string', description: 'such as e12' } as const

/** Acting on pages as a person does. */
export function actTools(sessions: BrowserSessions): readonly Tool[] {
  return [
    browserTool<{ readonly ref: string; readonly double: boolean }>(sessions, {
      name: 'browser_click',
      description: 'Click an element, and see what changed.',
      properties: { ref: REF, double: { type: 'boolean', default: false } },
      required: ['ref'],
      act: ({ ref, double }, session, { signal }) =>
        acting(session, signal, async (tab) => {
          const what = tab.describe(ref)
          const { x, y, tag, inputType } = await tab.locate(ref)
          if (inputType === 'file')
            throw new HermesError(`${ref} takes files: use browser_upload.`, { code: 'browser.cannot_act' })
          if (tag === 'SELECT')
            throw new HermesError(`${ref} is a list of choices: use browser_select.`, { code: 'browser.cannot_act' })
          await tab.page.mouse.click(x, y, { clickCount: double ? 2 : 1 })
          return `Clicked ${what}.`
        }),
    }),
    browserTool<{ readonly ref: string; readonly text: string; readonly submit: boolean }>(sessions, {
      name: 'browser_type',
      description: 'Write into a field in place of what it holds. Never passwords of the person.',
      properties: {
        ref: REF,
        text: { type: 'string' },
        submit: { type: 'boolean', default: false, description: 'press Enter afterwards' },
      },
      required: ['ref', 'text'],
      act: ({ ref, text, submit }, session, { signal }) =>
        acting(session, signal, async (tab) => {
          const what = tab.describe(ref)
          await session.gate.speech.give(tab, text)
          const focused = await tab.onElement(ref, 'focus', { value: text })
          if (focused.type === 'no-field')
            throw new HermesError(`${ref} (${what}) is no field to write into.`, { code: 'browser.cannot_act' })
          if (focused.type === 'set' && focused.value !== text)
            throw new HermesError(
              `${ref} (${what}) did not take ${JSON.stringify(text)}. Dates are written 2026-12-31, times 23:59, colours #ff0000.`,
              { code: 'browser.cannot_act' },
            )
          if (focused.type === 'text')
            await (text === '' ? tab.page.keyboard.press('Delete') : tab.page.keyboard.insertText(text))
          if (submit) await tab.page.keyboard.press('Enter')
          return `Wrote into ${what}.`
        }),
    }),
    browserTool<{ readonly ref: string; readonly values: readonly string[] }>(sessions, {
      name: 'browser_select',
      description: 'Choose in a list of choices, by label or value.',
      properties: { ref: REF, values: { type: 'array', items: { type: 'string' }, minItems: 1 } },
      required: ['ref', 'values'],
      act: ({ ref, values }, session, { signal }) =>
        acting(session, signal, async (tab) => {
          const chosen = await tab.onElement(ref, 'choose', { values })
          if (chosen.type === 'chosen')
            return `Chose ${chosen.labels.map((label) => JSON.stringify(label)).join(', ')}.`
          const why =
            chosen.type === 'unknown'
              ? `has no such choice; it has ${chosen.options.map((label) => JSON.stringify(label)).join(', ')}`
              : 'is no list of the browser itself; click it and choose what opens'
          throw new HermesError(`${ref} (${tab.describe(ref)}) ${why}.`, { code: 'browser.cannot_act' })
        }),
    }),
    browserTool<{ readonly key: string }>(sessions, {
      name: 'browser_press',
      description: 'Press a key where the focus is: Enter, Escape, Tab, ArrowDown, Control+a …',
      properties: { key: { type: 'string' } },
      required: ['key'],
      act: ({ key }, session, { signal }) =>
        acting(session, signal, async (tab) => {
          if ([...key].length === 1 || PASTES.test(key)) await session.gate.speech.press(tab, key)
          try {
            await tab.page.keyboard.press(key)
          } catch (error) {
            if (!(error instanceof Error) || !error.message.includes('Unknown key')) throw error
            throw new HermesError(
              `There is no key ${JSON.stringify(key)}. Names are Enter, Escape, Tab, ArrowDown, a, Control+a.`,
              {
                code: 'browser.cannot_act',
              },
            )
          }
          return `Pressed ${key}.`
        }),
    }),
    browserTool<{ readonly action: 'accept' | 'dismiss'; readonly text?: string }>(sessions, {
      name: 'browser_dialog',
      description: 'Answer the dialog that a page opened.',
      properties: {
        action: { type: 'string', enum: ['accept', 'dismiss'] },
        text: { type: 'string', description: 'the answer to a prompt' },
      },
      required: ['action'],
      despiteDialog: true,
      async act({ action, text }, session, { signal }) {
        const before = session.tabs.find((tab) => session.isCurrent(tab))
        const line = await session.answerDialog(action === 'accept', text)
        if (!before || session.dialog) return line
        await before.settle(signal)
        if (session.dialog) return line
        return `${line}\n${await changes(session, before)}`
      },
    }),
    browserTool<object>(sessions, {
      name: 'browser_close',
      description: 'Close the pages of this session, with their cookies.',
      despiteDialog: true,
      async act(_args, session) {
        await session.close()
        return 'Closed.'
      },
    }),
  ]
}

/** Does something on the page, waits until it has come to rest, and tells what changed. */
export async function acting(
  session: BrowserSession,
  signal: AbortSignal,
  act: (tab: Tab) => Promise<string>,
): Promise<string> {
  const tab = await session.page()
  if (tab.latest === null) await tab.snapshot()
  tab.mark()
  const { begun } = session.downloads
  const line = await act(tab)
  await tab.settle(signal)
  await session.knowsItsTabs(signal)
  // A navigation that ended without a document may be a file, unless it was refused.
  if (tab.wasCutOff && session.gate.refusals === 0) await session.downloads.beyond(begun, signal, DOWNLOAD_MS)
  else await session.downloads.settled(signal, DOWNLOAD_MS)
  const out = session.takeLeadingOut()
  if (out !== null) {
    const other = await session.pageFor(out)
    await other.page.goto(out, { waitUntil: 'commit', timeout: 0 })
    await other.settle(signal)
    return `${line}\n${await shownPage(session, other)}`
  }
  return `${line}\n${await changes(session, tab)}`
}

async function changes(session: BrowserSession, tab: Tab): Promise<string> {
  const now = await session.page()
  return now === tab ? shownChanges(session, tab) : shownPage(session, now)
}
