import { readFile, writeFile } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import { rootOfHome } from '@hermes/config'
import {
  createProfile,
  deleteProfile,
  describeProfile,
  exportProfile,
  findProfile,
  importProfile,
  listProfiles,
  renameProfile,
  stickToProfile,
} from '@hermes/config/profiles'
import { errorLine } from '@hermes/contracts'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { renderTable } from '../render/command-table.js'

/** `hermes profile list`. */
export async function listAll(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  const home = homeOf(io)
  const profiles = (await listProfiles(rootOfHome(home))).map((profile) => ({
    ...profile,
    isCurrent: profile.home === home,
  }))
  if (json) for (const profile of profiles) io.stdout.write(`${JSON.stringify(profile)}\n`)
  else
    io.stdout.write(
      renderTable(
        {
          rows: profiles.map(({ name, description, isChosen, isCurrent }) => ({
            cells: [name, isChosen ? 'used without -p' : '', description ?? ''],
            isCurrent,
          })),
        },
        io.stdout,
      ),
    )
  return EXIT.ok
}

/** `hermes profile use NAME`. */
export async function use(io: Io, name: string): Promise<number> {
  await stickToProfile(rootOfHome(homeOf(io)), name)
  io.stdout.write(`From now on hermes works in the profile ${name}, unless -p or HERMES_PROFILE names another.\n`)
  return EXIT.ok
}

/** `hermes profile create NAME`. */
export async function create(
  io: Io,
  name: string,
  options: { readonly clone?: boolean; readonly cloneFrom?: string; readonly description?: string },
): Promise<number> {
  const root = rootOfHome(homeOf(io))
  const current = (await listProfiles(root)).find(({ home }) => home === homeOf(io))?.name
  const cloneFrom = options.cloneFrom ?? (options.clone ? current : undefined)
  const { description } = options
  const profile = await createProfile(root, name, {
    ...(cloneFrom === undefined ? {} : { cloneFrom }),
    ...(description === undefined ? {} : { description }),
  })
  const like = cloneFrom === undefined ? '' : `, with settings, keys of .env, skills and memories of ${cloneFrom}`
  io.stdout.write(`Made the profile ${name}${like}: ${profile.home}\n`)
  io.stdout.write(
    `${cloneFrom === undefined ? `To set it up: hermes -p ${name} setup` : `To use it: hermes -p ${name}`}\n`,
  )
  return EXIT.ok
}

/** `hermes profile describe NAME [TEXT…]`. */
export async function describe(io: Io, name: string, words: readonly string[]): Promise<number> {
  const root = rootOfHome(homeOf(io))
  if (words.length > 0) await describeProfile(root, name, words.join(' '))
  const { description } = await findProfile(root, name)
  io.stdout.write(`${description ?? `Nothing is said about ${name}: hermes profile describe ${name} TEXT`}\n`)
  return EXIT.ok
}

/** `hermes profile delete NAME`: asks, unless told not to. */
export async function remove(io: Io, name: string, { yes }: { readonly yes?: boolean }): Promise<number> {
  const root = rootOfHome(homeOf(io))
  const { home } = await findProfile(root, name)
  const question = `Delete the profile ${name} with its settings, keys, memories and sessions (${home})?`
  if (name !== 'default' && !yes && !(await confirm(io, question, 'yes, delete it'))) {
    io.stderr.write('Nothing was deleted.\n')
    return EXIT.failed
  }
  await deleteProfile(root, name)
  io.stdout.write(`Deleted the profile ${name}.\n`)
  return EXIT.ok
}

/** `hermes profile rename NAME NEW`. */
export async function rename(io: Io, name: string, newName: string): Promise<number> {
  await renameProfile(rootOfHome(homeOf(io)), name, newName)
  io.stdout.write(`The profile ${name} is called ${newName} now.\n`)
  return EXIT.ok
}

/** `hermes profile export [NAME]`: never writes over a file. */
export async function pack(
  io: Io,
  name: string | undefined,
  { output }: { readonly output?: string },
): Promise<number> {
  const root = rootOfHome(homeOf(io))
  const all = await listProfiles(root)
  const chosen = name ?? all.find(({ home }) => home === homeOf(io))?.name ?? 'default'
  const { bytes, files, removedKeys, withheld } = await exportProfile(root, chosen)
  const file = resolve(io.cwd, output ?? `${chosen}.zip`)
  try {
    await writeFile(file, bytes, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new UsageError(isThere ? `${file} is there already. Name another: -o FILE` : errorLine(error))
  }
  io.stdout.write(`${file}  ${files} files\n`)
  if (removedKeys.length > 0) io.stderr.write(`Without these keys of config.yaml: ${removedKeys.join(', ')}\n`)
  if (withheld.length > 0) io.stderr.write(`Left out, because a key of the home is in them: ${withheld.join(', ')}\n`)
  return EXIT.ok
}

/** `hermes profile import FILE`. */
export async function unpack(io: Io, path: string, { name }: { readonly name?: string }): Promise<number> {
  const file = resolve(io.cwd, path)
  const chosen = name ?? basename(file, extname(file)).toLowerCase()
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`Cannot read ${file}: ${errorLine(error)}`)
  })
  const files = await importProfile(rootOfHome(homeOf(io)), chosen, bytes)
  io.stdout.write(`Made the profile ${chosen} of ${files} files. It has no keys yet: hermes -p ${chosen} setup\n`)
  return EXIT.ok
}
