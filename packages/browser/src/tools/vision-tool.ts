import { writeFile } from 'node:fs/promises'
import { HermesError } from '@hermes/contracts'
import type { Tool, ToolContext, ToolResult } from '@hermes/contracts/tool'
import type { BrowserOptions } from '../browser-options.js'
import type { BrowserSessions } from '../session/sessions.js'
import { browserTool } from './browser-tool.js'

interface Args {
  readonly question: string
  readonly annotate: boolean
}

/** A picture of the window for a question: to the model itself where it sees, else told by one that does. */
export function visionTool(sessions: BrowserSessions, { showImage }: Pick<BrowserOptions, 'showImage'>): Tool {
  const shots = new WeakMap<ToolContext, { readonly bytes: Uint8Array; readonly path: string }>()
  const tool = browserTool<Args>(sessions, {
    name: 'browser_vision',
    description: 'Look at the page as it is drawn, for what its text does not say: layout, charts, pictures.',
    properties: {
      question: { type: 'string' },
      annotate: { type: 'boolean', default: false, description: 'draw references (e12) beside what can be acted on' },
    },
    required: ['question'],
    looks: true,
    async act({ annotate }, session, { call }) {
      const tab = await session.page()
      for (const secret of session.secrets)
        if (await tab.shows(secret))
          throw new HermesError('No picture was taken: the page shows what was filled in from the vault.', {
            code: 'vault.shown',
          })
      if (annotate && tab.latest === null) await tab.snapshot()
      const refs = annotate ? await tab.label() : []
      try {
        // As the window is: 1,280 by 800, below what vision models shrink.
        const bytes = await tab.page.screenshot({ type: 'jpeg', quality: 80, scale: 'css', timeout: 15_000 })
        const path = await session.downloads.newFile('screenshot.jpg')
        await writeFile(path, bytes, { mode: 0o600 })
        shots.set(call, { bytes, path })
      } finally {
        if (annotate) await tab.unlabel()
      }
      const labels = refs.map((ref) => `${ref} ${tab.describe(ref)}`)
      return [tab.page.url(), ...labels].join('\n')
    },
  })
  return {
    ...tool,
    async execute(args, call): Promise<ToolResult> {
      const seen = await tool.execute(args, call)
      const shot = shots.get(call)
      if (!shot || typeof seen !== 'string') return seen
      const { question } = args as Args
      const shown = await showImage(shot.bytes, { place: shot.path, question, call })
      return typeof shown === 'string' ? `${seen}\n${shown}` : { ...shown, text: `${seen}\n${shown.text ?? ''}` }
    },
  }
}
