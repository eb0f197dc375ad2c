import { collectInvocations } from './collect.js'
import { texts } from './invocation.js'
import { onlyLooks } from './only-looks.js'
import { writeTargets } from './write-targets.js'

/** What is longer is not known to look only: each substitution holds those within it, and all of them would be read again for each. */
const MOST_READ_AGAIN = 4_000

/** One program that a command line runs. */
export interface ProgramRun {
  /** Base name, for example `rm` for `/bin/rm`, freed of `sudo`, `env` and the like. */
  readonly name: string
  readonly args: readonly string[]
  /** As it was written, wrappers and assignments included. */
  readonly written: string
  /** Whether it is known to change nothing. */
  readonly looks: boolean
  /** Whether it names a file that it writes. */
  readonly writes: boolean
  /** The files that it names and writes, as they are written. */
  readonly targets: readonly string[]
}

/** The programs that a command line runs, in their order, those of substitutions included. Never throws. */
export function programsRun(command: string): readonly ProgramRun[] {
  return collectInvocations(command, {}).invocations.map((invocation) => {
    const targets = writeTargets(invocation).filter((path) => !/^\/dev\/(?:null|stdout|stderr|tty)$/.test(path))
    return {
      name: invocation.name,
      args: texts(invocation.args),
      written: invocation.written,
      looks: invocation.written.length <= MOST_READ_AGAIN && onlyLooks(invocation.written),
      writes: targets.length > 0,
      targets,
    }
  })
}
