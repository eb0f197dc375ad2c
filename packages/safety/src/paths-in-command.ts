// Where a command line may lead, by its words alone.
import { posix } from 'node:path'
import type { StartedLine } from '@hermes/contracts/policy'
import { collectInvocations } from './command/collect.js'
import { texts } from './command/invocation.js'

/** So many are given; the rest of a longer line is not looked at. */
const MAX_PATHS = 4_000

/**
 * The paths that words of a line may be: the folder it starts in, those it goes to, and each word from there, quotes taken away. `userHome`
 * stands for `~`. Absolute, in plain form, there or not. Pure; never throws.
 */
export function pathsInCommand({ command, cwd }: StartedLine, userHome: string): readonly string[] {
  const { invocations } = collectInvocations(command, { cwd })
  const absolute = (from: string, word: string) =>
    posix.resolve(from, word.replace(/^(?:~|\$\{?HOME\}?)(?=\/|$)/, userHome))
  const folders = new Set([
    cwd,
    ...invocations.flatMap(({ context }) => (context.cwd === undefined ? [] : [absolute(cwd, context.cwd)])),
  ])
  const words = new Set([
    ...invocations.flatMap(({ name, program, args }) => [
      program.text,
      // A word of git is a path where it has a slash: messages and branches are words too.
      ...texts(args).filter((word) => name !== 'git' || word.includes('/')),
    ]),
    // Paths stand in code, in assignments and behind options too.
    ...command.split(/[\s;|&()<>"'`=,:]+/).filter((word) => word.includes('/')),
  ])
  const paths = new Set(folders)
  for (const folder of folders)
    for (const word of words) {
      if (paths.size >= MAX_PATHS) return [...paths]
      if (word !== '' && !word.includes('\n') && word.length < 4_096) paths.add(absolute(folder, word))
    }
  return [...paths]
}
