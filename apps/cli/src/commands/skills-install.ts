import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { confirm } from '../confirm.js'
import { EXIT } from '../errors.js'
import { homeCommand } from '../home-command.js'
import { canAsk, type Io } from '../io.js'
import { homeOf } from '../open-cli.js'

/** Fetches a skill, shows what it holds, and installs it after a yes. */
export async function skillsInstall(
  io: Io,
  source: string,
  { yes = false, force = false }: { readonly yes?: boolean; readonly force?: boolean },
): Promise<number> {
  const id = randomBytes(3).toString('hex')
  const isAnswered = yes || canAsk(io)
  const exitCode = await homeCommand(io, 'skills', { words: ['install', source], id, isAnswered })
  const waits = existsSync(join(homeLayout(homeOf(io)).skills, '.hub', 'quarantine', id))
  if (exitCode !== EXIT.ok || !waits || !isAnswered) return exitCode
  // Whoever is asked has seen what was found.
  const agreed = yes || (await confirm(io, 'Install it?', 'install it'))
  return homeCommand(
    io,
    'skills',
    agreed ? { words: ['accept', id], force: force || !yes } : { words: ['discard', id] },
  )
}
