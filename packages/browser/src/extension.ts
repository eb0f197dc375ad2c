import { HermesError } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import type { WebCall } from '@hermes/contracts/web'
import type { BrowserOptions } from './browser-options.js'
import { browserCommand } from './commands/browser-command.js'
import { vaultCommand } from './commands/vault-command.js'
import { browserFindings } from './doctor.js'
import { BrowserSessions } from './session/sessions.js'
import { DEFAULT_SETTINGS, type ReadSettings, readSettings } from './settings.js'
import { actTools } from './tools/act-tools.js'
import { cdpTool } from './tools/cdp-tool.js'
import { fileTools } from './tools/file-tools.js'
import { lookTools } from './tools/look-tools.js'
import { vaultTools } from './tools/vault-tools.js'
import { visionTool } from './tools/vision-tool.js'
import { createVault, type Vault } from './vault/vault.js'

/** The browser of a home. */
export interface HomeBrowser {
  readonly extension: Extension
  /** The logins of the person. */
  readonly vault: Vault
  /**
   * What a page became once its scripts have run, in cookies of its own; what it downloads is not taken. Where it may go is asked through the
   * call. Rejects with one line, such as `browser.not_installed`.
   */
  readonly render: (url: string, call: WebCall) => Promise<{ readonly url: string; readonly html: string }>
}

/** The tools of the toolset `browser` for the sessions of a home. Nothing is loaded or started before the first page is opened. */
export function createBrowser(options: BrowserOptions): HomeBrowser {
  const vault = createVault(options.vaultFile)
  let opened: BrowserSessions | null = null
  return {
    vault,
    async render(url, call) {
      if (!opened) throw new HermesError('The browser is not open yet.', { code: 'browser.lost' })
      const { renderPage } = await import('./session/render-page.js')
      return renderPage(opened, url, call)
    },
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
        opened = sessions
        // What a killed process left is paid for. Where there is nothing, that is one look into a folder.
        void sessions.leases.releaseLeft()
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
            ...vaultTools(sessions, { ...options, vault }),
            ...(settings().allowsCdp ? [cdpTool(sessions)] : []),
          ],
        })
        api.hooks.on('before-tool-call', ({ tool, session, caller, agentPath }) => {
          if (tool.name !== 'browser_navigate' || !session.isTainted) return undefined
          const [isByProgram, isDelegated] = [caller === 'program', agentPath.length > 1]
          sessions.get(session.id).gate.speech.heard({ entries: session.entries, isByProgram, isDelegated })
          return undefined
        })
        api.hooks.on('session-end', async ({ session }) => void (await sessions.end(session.id)))
        vaultCommand(api, vault)
        browserCommand(api, { sessions, options, settings })
        api.doctor.check({
          name: 'browser',
          run: () => browserFindings(options, settings()),
        })
        return () => sessions.close()
      },
    },
  }
}
