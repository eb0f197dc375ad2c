import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Finding } from '@hermes/contracts/extension'
import type { DoctorHome } from './finding.js'
import { ok, warn } from './finding.js'

const PROGRAMS = [
  {
    name: 'rg',
    ok: 'ripgrep found: searches are fast',
    missing: 'ripgrep (rg) is not installed: searches still work, slower on large trees',
  },
  {
    name: 'git',
    ok: 'git found',
    missing: 'git is not installed: the agent cannot look at history or undo its edits. Install it',
  },
]

/** Programs that the agent works better with. */
export async function programFindings({ env }: Pick<DoctorHome, 'env'>): Promise<readonly Finding[]> {
  return Promise.all(
    PROGRAMS.map(async ({ name, ok: found, missing }) => ((await isInPath(name, env)) ? ok(found) : warn(missing))),
  )
}

async function isInPath(name: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const isThere = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return true
  }
  return false
}
