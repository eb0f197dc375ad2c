import type { SudoAccess } from '@hermes/contracts/environment'
import { quote } from '../shell/command-text.js'
import { askingByHelper, askpassScript } from '../shell/sudo.js'
import type { RemoteHost } from './remote-host.js'
import { runScript } from './run-script.js'

/** What tells the `sudo` over there the password of one command. */
interface RemoteAskpass {
  /** Lines that lay the helper, for its user alone. They hold the password, so they are for standard input only. */
  readonly lay: string
  readonly env: Readonly<Record<string, string>>
  /** `command`, with `sudo` in it asking the helper. */
  commandLine(command: string): string
  /** A line that takes the helper away. */
  readonly remove: string
}

/** The `sudo` over there: the one that was in `path`, a list of folders, when the environment was opened. */
export class RemoteSudo implements SudoAccess {
  readonly #host: RemoteHost
  readonly #find: string
  #program: Promise<string | null> | null = null

  constructor(host: RemoteHost, path: string) {
    this.#host = host
    this.#find = path === '' ? '' : `PATH=${quote(path)}; export PATH; `
  }

  async needsPassword(): Promise<boolean> {
    const program = await this.#found().catch(() => null)
    if (program === null) return false
    const output = await runScript(this.#host, `${quote(program)} -n true </dev/null`).catch(() => null)
    return output !== null && !output.ok
  }

  /** A helper at `path` for one command; `null` when there is no `sudo`. @throws HermesError what the host makes of its client's failure. */
  async askpass(path: string, password: string): Promise<RemoteAskpass | null> {
    const program = await this.#found()
    if (program === null) return null
    const helper = quote(path)
    return {
      lay: `( umask 077; printf %s ${quote(askpassScript(password))} > ${helper}; chmod 700 ${helper} )`,
      env: { SUDO_ASKPASS: path },
      commandLine: (command) => askingByHelper(program, command),
      remove: `rm -f ${helper}`,
    }
  }

  async #found(): Promise<string | null> {
    this.#program ??= runScript(this.#host, `${this.#find}command -v sudo`).then(({ stdout }) => {
      const program = stdout.toString('utf8').trim()
      return program.startsWith('/') ? program : null
    })
    return this.#program
  }
}
