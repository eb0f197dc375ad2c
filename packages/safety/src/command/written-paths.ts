import { collectInvocations } from './collect.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { writeTargets } from './write-targets.js'

/**
 * The paths that a command names as what it creates, changes or removes, absolute or beginning with `~` where that can be told. Patterns of
 * the shell are cut off at the last folder before them. What a program writes without naming it is not among them.
 */
export function writtenPaths(command: string, context: CommandContext): readonly string[] {
  const targets = collectInvocations(command, context).invocations.flatMap((invocation) =>
    writeTargets(invocation).map((path) => resolved(path, invocation.context)),
  )
  return [...new Set(targets)]
}

function resolved(path: string, context: CommandContext): string {
  const pattern = path.search(/[*?[{]/)
  const known = pattern < 0 ? path : path.slice(0, path.lastIndexOf('/', pattern) + 1) || '.'
  return resolveShellPath(known, context)
}
