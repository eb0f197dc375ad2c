import type { Extension } from '@hermes/contracts/extension'
import type { BrowserOptions } from './browser-options.js'
import { browserCommand } from './commands/browser-command.js'
import { findBrowser } from './launch/find-browser.js'
import { NO_SANDBOX } from './session/notices.js'
import { BrowserSessions } from './session/sessions.js'
import { DEFAULT_SETTINGS, type ReadSettings, readSettings } from './settings.js'
import { actTools } from './tools/act-tools.js'
import { fileTools } from './tools/file-tools.js'
import { lookTools } from './tools/look-tools.js'
import { visionTool } from './tools/vision-tool.js'

/** The browser of a home. */
export interface HomeBrowser {
  readonly extension: Extension
}

/** The tools of the toolset `browser` for the sessions of a home. Nothing is loaded or started before the first page is opened. */
export function createBrowser(options: BrowserOptions): HomeBrowser {
  return {
    extension: {
      name: 'browser',
      setup(api) {
        const section = api.config.section<ReadSettings>({
          key: 'browser',
          schema: {
            '~standard': { version: 1, vendor: 'hermes', validate: (value) => ({ value: readSettings(value) }) },
          },
          problems: ({ problems }) => problems,
        })
        const settings = () => section.value?.settings ?? DEFAULT_SETTINGS
        const sessions = new BrowserSessions(options, settings)
        api.tools.addSource({
          name: 'browser',
          description: 'open pages in a browser, click, type, see',
          deferred: true,
          trusted: true,
          list: () => [
            ...lookTools(sessions),
            ...actTools(sessions),
            ...fileTools(sessions, options),
            visionTool(sessions, options),
          ],
        })
        api.hooks.on('session-end', async ({ session }) => void (await sessions.end(session.id)))
        browserCommand(api, { sessions, options, settings })
        api.doctor.check({
          name: 'browser',
          async run() {
            const { env, isRoot } = options
            const program = await findBrowser({ env, executable: settings().executable })
            return [
              { level: 'ok', text: `Browser: ${program}` },
              ...(isRoot ? [{ level: 'warn', text: NO_SANDBOX } as const] : []),
            ]
          },
        })
        return () => sessions.close()
      },
    },
  }
}
