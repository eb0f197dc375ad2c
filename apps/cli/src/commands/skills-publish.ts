import { confirm } from '../confirm.js'
import { EXIT } from '../errors.js'
import { homeCommand } from '../home-command.js'
import { canAsk, type Io } from '../io.js'

/** Shows what would be published, and publishes it after a yes. */
export async function skillsPublish(
  io: Io,
  words: readonly string[],
  { yes = false }: { readonly yes?: boolean },
): Promise<number> {
  const all = ['publish', ...words]
  if (yes) return homeCommand(io, 'skills', { words: all, yes })
  const exitCode = await homeCommand(io, 'skills', { words: all })
  if (exitCode !== EXIT.ok || !canAsk(io) || !(await confirm(io, 'Publish it?', 'publish it'))) return exitCode
  return homeCommand(io, 'skills', { words: all, yes: true })
}
