import type { Logger } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { type IsolationSupport, isolationHinders } from './isolation-support.js'

/** Options of {@link isolationNotice}. */
export interface IsolationNoticeOptions {
  /** Of config.yaml. */
  readonly terminal: { readonly backend: string; readonly isolation: 'auto' | 'on' | 'off' }
  readonly isolationSupport: IsolationSupport
  readonly logger: Logger
}

/** Says once for a home that commands are not isolated although nobody chose that, with the first one that is about to run. */
export function isolationNotice({ terminal, isolationSupport, logger }: IsolationNoticeOptions): Extension {
  return {
    name: 'isolation-notice',
    setup: ({ hooks }) => {
      // With `on` such commands do not run at all, and say why themselves.
      if (terminal.backend !== 'local' || terminal.isolation !== 'auto') return
      const watch = hooks.on('before-action', (event) => {
        const { action, environment } = event
        if (action.type !== 'spawn') return
        watch.dispose()
        const why = isolationHinders(environment?.root ?? action.cwd) ?? isolationSupport.why()
        if (why === null) return
        logger.warn('Commands run without isolation.', { why })
        event.notice(
          `Commands are not held to the workspace: ${why}. Programs can then read what Hermes was started with, so keys belong in \`hermes auth add\`, not into variables. To say that this is meant: terminal.isolation: off.`,
        )
      })
    },
  }
}
