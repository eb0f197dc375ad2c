import { chmod, stat } from 'node:fs/promises'
import { homeLayout, migrateConfig } from '@hermes/config'
import { confirm } from '../confirm.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'

/** A change that sets something right. */
interface Fix {
  /** What is done, in a line. */
  readonly change: string
  apply(): Promise<unknown>
}

/** `hermes doctor --fix`: shows what would be changed, asks, does it. Without a yes nothing is. */
export async function doctorFix(io: Io, { yes = false }: { readonly yes?: boolean }): Promise<void> {
  const fixes = await findFixes(homeOf(io))
  if (fixes.length === 0) {
    io.stderr.write('There is nothing that can be fixed from here.\n')
    return
  }
  for (const { change } of fixes) io.stdout.write(`fix   ${change}\n`)
  if (!yes && !(await confirm(io, 'Make these changes?', 'yes, make them'))) {
    io.stderr.write('Nothing was changed.\n')
    return
  }
  for (const { apply } of fixes) await apply()
  io.stdout.write(`Made ${fixes.length} ${fixes.length === 1 ? 'change' : 'changes'}.\n\n`)
}

async function findFixes(home: string): Promise<readonly Fix[]> {
  const layout = homeLayout(home)
  const folders = [home, layout.logs, layout.backups, layout.memories]
  const files = [layout.config, layout.env, layout.auth, layout.permissions, layout.trust, layout.stateDb]
  const modes = await Promise.all([
    ...folders.map((path) => modeFix(path, { least: 0o700, forbidden: 0o022 })),
    ...files.map((path) => modeFix(path, { least: 0o600, forbidden: 0o077 })),
  ])
  const moves = await migrateConfig({ home, dryRun: true }).catch(() => [])
  const names = moves.map(({ from, to }) => `${from} is called ${to ?? 'otherwise, and is there'} today`).join(', ')
  return [
    ...modes.flat(),
    ...(moves.length === 0 ? [] : [{ change: `${layout.config}: ${names}`, apply: () => migrateConfig({ home }) }]),
  ]
}

/** Who owns it may do all; others nothing of `forbidden`. */
async function modeFix(
  path: string,
  { least, forbidden }: { readonly least: number; readonly forbidden: number },
): Promise<readonly Fix[]> {
  const found = await stat(path).catch(() => null)
  if (found === null || process.platform === 'win32') return []
  const mode = found.mode & 0o777
  const wanted = (mode & ~forbidden) | least
  if (mode === wanted) return []
  const change = `chmod ${wanted.toString(8)} ${path}, which is ${mode.toString(8)} now`
  return [{ change, apply: () => chmod(path, wanted) }]
}
