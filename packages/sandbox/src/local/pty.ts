import { createRequire } from 'node:module'
import { errorLine, HermesError } from '@hermes/contracts'

/** What is used of a process of node-pty. @see https://github.com/microsoft/node-pty */
export interface PtyProcess {
  readonly pid: number
  write(data: string): void
  onData(listener: (data: string) => void): unknown
  onExit(listener: (end: { readonly exitCode: number; readonly signal?: number | undefined }) => void): unknown
}

/** What is used of node-pty. */
export interface PtyModule {
  spawn(
    file: string,
    args: string[],
    options: {
      readonly name: string
      readonly cols: number
      readonly rows: number
      readonly cwd: string
      readonly env: Record<string, string>
    },
  ): PtyProcess
}

/** What programs on a pseudo-terminal of ours find. */
export const SCREEN = Object.freeze({ name: 'xterm-256color', cols: 120, rows: 30 })

const NAME: string = 'node-pty'

/** Whether node-pty is installed beside this program. */
export function isPtyInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(NAME)
    return true
  } catch {
    return false
  }
}

/** Loads node-pty. @throws HermesError `environment.no_pty` when it is missing or was not built for this machine. */
export async function loadPty(load: () => Promise<unknown> = () => import(NAME)): Promise<PtyModule> {
  try {
    const module = (await load()) as PtyModule & { readonly default?: PtyModule }
    return module.default ?? module
  } catch (error) {
    throw new HermesError(
      'There is no pseudo-terminal here: node-pty is not installed, or not built for this machine.',
      {
        code: 'environment.no_pty',
        details: { reason: errorLine(error) },
        cause: error,
      },
    )
  }
}
