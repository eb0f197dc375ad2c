import { basename } from 'node:path'
import { rootOfHome } from '@hermes/config'
import { EXIT } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { renderTable } from '../render/command-table.js'
import { findInstallation } from './installation.js'

/** Facts about the program that runs, for people and bug reports. */
export function versionFacts(io: Pick<Io, 'env' | 'userHome'>): Readonly<Record<string, string>> {
  const home = homeOf(io)
  const { version, folder, by } = findInstallation()
  return {
    hermes: version,
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
    installed: `${folder} (${by})`,
    home,
    profile: rootOfHome(home) === home ? 'default' : basename(home),
  }
}

/** `hermes version`. */
export async function version(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  const facts = versionFacts(io)
  const rows = Object.entries(facts).map(([name, value]) => ({ cells: [name, value] }))
  io.stdout.write(json ? `${JSON.stringify(facts)}\n` : renderTable({ rows }, io.stdout))
  return EXIT.ok
}
