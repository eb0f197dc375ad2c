import { basename } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Tool } from '@hermes/contracts/tool'
import type { BrowserOptions } from '../browser-options.js'
import type { BrowserSessions } from '../session/sessions.js'
import { acting } from './act-tools.js'
import { browserTool } from './browser-tool.js'

/** What the driver hands to a page at once. */
const MOST_UPLOAD_BYTES = 50_000_000
const CHOOSER_MS = 3_000

/** Files from and to pages. */
export function fileTools(sessions: BrowserSessions, { readFile }: Pick<BrowserOptions, 'readFile'>): readonly Tool[] {
  return [
    browserTool<{ readonly ref: string; readonly paths: readonly string[] }>(sessions, {
      name: 'browser_upload',
      description: 'Hand files to the field or button that asks for them.',
      properties: {
        ref: { type: 'string', description: 'such as e12' },
        paths: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 20 },
      },
      required: ['ref', 'paths'],
      act: ({ ref, paths }, session, { signal, call }) =>
        acting(session, signal, async (tab) => {
          const files = await Promise.all(
            paths.map(async (path) => ({
              name: basename(path),
              bytes: await session.asking(() => readFile(path, call)),
            })),
          )
          const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
          if (size > MOST_UPLOAD_BYTES)
            throw cannot(`${size} bytes are too many to upload: ${MOST_UPLOAD_BYTES} at once.`)
          const origin = await tab.originOf(ref)
          const send = { type: 'send', target: `browser-upload:${origin}`, chosen: 'acts' } as const
          const permit = await session.asking(() => call.permit(send))
          permit.consume(send)
          const what = tab.describe(ref)
          const { x, y } = await tab.locate(ref)
          const chooser = await tab.chooserOf(() => tab.page.mouse.click(x, y), CHOOSER_MS)
          if (!chooser) throw cannot(`${ref} (${what}) asks for no files. It was clicked.`)
          if (files.length > 1 && !chooser.isMultiple()) {
            await chooser.setFiles([])
            throw cannot(`${ref} (${what}) takes one file.`)
          }
          // A person may have been asked meanwhile, and the document may be another one since.
          if ((await tab.originOf(ref)) !== origin) {
            await chooser.setFiles([])
            throw cannot(`The page is not the one it was: ${ref} is of another site now.`)
          }
          for (const { name, bytes } of files)
            await session.gate.speech.give(tab, `${name}\n${Buffer.from(bytes.subarray(0, 200_000)).toString('utf8')}`)
          await chooser.setFiles(
            files.map(({ name, bytes }) => ({
              name,
              mimeType: 'application/octet-stream',
              buffer: Buffer.from(bytes),
            })),
          )
          return `Gave ${files.map(({ name }) => name).join(', ')} to ${what}.`
        }),
    }),
    browserTool<{ readonly ref?: string }>(sessions, {
      name: 'browser_download',
      description:
        'Click what downloads a file, and wait until it is there; without ref, wait for downloads under way.',
      properties: { ref: { type: 'string', description: 'such as e12' } },
      async act({ ref }, session, { signal }) {
        const { downloads } = session
        if (ref === undefined) {
          if (!downloads.isRunning)
            return downloads.begun === 0 ? 'Nothing was downloaded yet.' : 'No download is under way.'
          await downloads.settled(signal)
          return ''
        }
        const before = downloads.begun
        const text = await acting(session, signal, async (tab) => {
          const what = tab.describe(ref)
          const { x, y } = await tab.locate(ref)
          await tab.page.mouse.click(x, y)
          return `Clicked ${what}.`
        })
        await downloads.beyond(before, signal)
        return downloads.begun > before ? text : `${text}\nNothing was downloaded.`
      },
    }),
  ]
}

function cannot(text: string): HermesError {
  return new HermesError(text, { code: 'browser.cannot_act' })
}
