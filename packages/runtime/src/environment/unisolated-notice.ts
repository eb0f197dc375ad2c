import type { HermesConfig } from '@hermes/config'
import type { Logger } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { type IsolationSupport, isolationHinders } from '@hermes/sandbox'

/** Options of {@link UnisolatedNotice}. */
export interface UnisolatedNoticeOptions {
  readonly terminal: Pick<HermesConfig['terminal'], 'backend' | 'isolation'>
  readonly isolationSupport: IsolationSupport
  readonly logger: Logger
}

/** Says once for a program that commands are not isolated although nobody chose that, with the first one that is about to run. */
export class UnisolatedNotice {
  readonly #options: UnisolatedNoticeOptions
  #isSettled: boolean

  constructor(options: UnisolatedNoticeOptions) {
    const { backend, isolation } = options.terminal
    this.#options = options
    // With `on` such commands do not run at all, and say why themselves.
    this.#isSettled = backend !== 'local' || isolation !== 'auto'
  }

  /** For an agent that works in `cwd`. */
  forAgent(cwd: string): Extension {
    return {
      name: 'isolation-notice',
      setup: ({ hooks }) => {
        if (this.#isSettled) return
        const watch = hooks.on('before-action', (event) => {
          if (event.action.type === 'spawn') this.#tell(cwd, (text) => event.notice(text))
          if (this.#isSettled) watch.dispose()
        })
      },
    }
  }

  #tell(cwd: string, notice: (text: string) => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const why = isolationHinders(cwd) ?? this.#options.isolationSupport.why()
    if (why === null) return
    this.#options.logger.warn('Commands run without isolation.', { why })
    notice(
      `Commands are not held to the workspace: ${why}. Programs can then read what Hermes was started with, so keys belong in \`hermes auth add\`, not into variables. To say that this is meant: terminal.isolation: off.`,
    )
  }
}
