import { homeLayout, loadConfig, setConfigValue } from '@hermes/config'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { renderTable } from '../render/command-table.js'
import { readSkin, skinNames } from '../skins/own-skins.js'

/** `hermes skin [NAME]`: the skins there are, or the one that conversations have from now on. */
export async function skin(io: Io, name: string | undefined, { json }: { readonly json?: boolean }): Promise<number> {
  const home = homeOf(io)
  const folder = homeLayout(home).skins
  if (name !== undefined) return choose(io, name)
  const { config } = await loadConfig({ home, env: io.env })
  const rows = await Promise.all(
    (await skinNames(folder)).map(async (one) => ({
      name: one,
      description: (await readSkin(folder, one))?.skin.description ?? '',
      isCurrent: one === config.display.skin,
    })),
  )
  if (json) for (const row of rows) io.stdout.write(`${JSON.stringify(row)}\n`)
  else {
    const table = rows.map(({ name: one, description, isCurrent }) => ({ cells: [one, description], isCurrent }))
    io.stdout.write(renderTable({ rows: table }, io.stdout))
  }
  return EXIT.ok
}

async function choose(io: Io, name: string): Promise<number> {
  const home = homeOf(io)
  const folder = homeLayout(home).skins
  const found = await readSkin(folder, name)
  if (!found) {
    const names = (await skinNames(folder)).join(', ')
    throw new UsageError(`There is no skin "${name}". There are: ${names}. One's own is a file ${folder}/NAME.yaml.`)
  }
  for (const problem of found.problems) io.stderr.write(`hermes: ${problem}\n`)
  await setConfigValue({ home, key: 'display.skin', value: name })
  io.stdout.write(`display.skin = ${name}\n`)
  return EXIT.ok
}
