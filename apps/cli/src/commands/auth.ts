import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isAbort } from '@hermes/contracts'
import type { CredentialInfo } from '@hermes/credential-pool'
import { poolStrategy } from '@hermes/runtime'
import { type AuthHome, findNamed, type NamedProvider, named, openAuthHome } from '../auth/auth-home.js'
import { describeExpiry, describeHint, describeSource, describeState } from '../auth/describe-credential.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { clip, createStyle } from '../render/style.js'

const MAX_LABEL_COLUMNS = 24

/** A provider with what it has. */
interface Listed extends NamedProvider {
  readonly credentials: readonly CredentialInfo[]
}

async function listed(home: AuthHome, wanted: string | undefined): Promise<readonly Listed[]> {
  const providers = wanted === undefined ? (await home.store.providers()).map(named) : [await findNamed(home, wanted)]
  return Promise.all(
    providers.map(async (provider) => ({ ...provider, credentials: await home.store.list(provider.pool) })),
  )
}

/** `hermes auth list [provider]`: every key and login, never more of it than the last four characters. */
export async function authList(io: Io, wanted: string | undefined, { json }: { json?: boolean }): Promise<number> {
  const providers = await listed(await openAuthHome(io), wanted)
  if (json) {
    const rows = providers.flatMap(({ pool, credentials }) => credentials.map((one) => ({ provider: pool, ...one })))
    for (const row of rows) io.stdout.write(`${JSON.stringify(row)}\n`)
    return EXIT.ok
  }
  if (providers.every(({ credentials }) => credentials.length === 0)) {
    io.stderr.write(`There are no keys or logins. Add one: hermes auth add ${wanted ?? 'PROVIDER'}\n`)
    return EXIT.ok
  }
  const style = createStyle(io.stdout)
  for (const { title, pool, credentials } of providers) {
    io.stdout.write(`${style.bold(title)} ${style.dim(pool)}\n`)
    const labels = Math.min(MAX_LABEL_COLUMNS, Math.max(0, ...credentials.map(({ label }) => label.length)))
    credentials.forEach((credential, index) => {
      const head = `  ${index + 1}  ${clip(credential.label, labels).padEnd(labels)}  ${describeHint(credential).padEnd(11)}  `
      const expiry = describeExpiry(credential, Date.now())
      const rest = [describeSource(credential), describeState(credential, Date.now()), ...(expiry ? [expiry] : [])]
      io.stdout.write(`${head}${clip(rest.join(', '), Math.max(20, io.stdout.columns() - head.length))}\n`)
    })
  }
  return EXIT.ok
}

/** `hermes auth status [provider]`: whether each provider can be used now; exit code 1 when one that was asked for, or all, cannot. */
export async function authStatus(io: Io, wanted: string | undefined, { json }: { json?: boolean }): Promise<number> {
  const home = await openAuthHome(io)
  const rows = (await listed(home, wanted)).map((provider) => statusOf(home, provider))
  if (json) for (const row of rows) io.stdout.write(`${JSON.stringify(row)}\n`)
  else {
    if (rows.length === 0) io.stderr.write('There are no keys or logins. Add one: hermes auth add PROVIDER\n')
    for (const row of rows) io.stdout.write(`${clip(statusLine(row), Math.max(40, io.stdout.columns()))}\n`)
  }
  return rows.some(({ usable }) => usable > 0) ? EXIT.ok : EXIT.failed
}

function statusOf({ config }: AuthHome, { name, pool, title, credentials }: Listed) {
  const untils = credentials.flatMap(({ state }) => (state.type === 'cooling' ? [state.untilMs] : []))
  const ready = credentials.filter(({ state }) => state.type === 'ready')
  return {
    provider: pool,
    title,
    strategy: poolStrategy(config, name),
    total: credentials.length,
    usable: ready.length,
    /** Unix milliseconds; `null` when one can be used now, or none will be by waiting. */
    usableAtMs: ready.length > 0 || untils.length === 0 ? null : Math.min(...untils),
  }
}

function statusLine({ title, strategy, total, usable, usableAtMs }: ReturnType<typeof statusOf>): string {
  if (total === 0) return `${title}: no key or login`
  const next = usableAtMs === null ? '' : `, the next at ${toSeconds(usableAtMs)}`
  const many = total > 1 ? `, chosen ${strategy}` : ''
  return `${title}: ${usable} of ${total} can be used now${next}${many}`
}

/** `hermes auth remove PROVIDER NAME`. */
export async function authRemove(io: Io, wanted: string, name: string): Promise<number> {
  const home = await openAuthHome(io)
  const provider = await findNamed(home, wanted)
  const removed = await home.store.remove(provider.pool, name)
  io.stdout.write(
    `Removed ${removed.label} of ${provider.title}. The provider still knows it: revoke it there if it leaked.\n`,
  )
  return EXIT.ok
}

/** `hermes auth reset PROVIDER [NAME]`: what rests or was refused is tried again. */
export async function authReset(io: Io, wanted: string, name: string | undefined): Promise<number> {
  const home = await openAuthHome(io)
  const provider = await findNamed(home, wanted)
  if ((await home.store.list(provider.pool)).length === 0)
    throw new UsageError(`${provider.title} has no keys or logins. Add one: hermes auth add ${provider.name}`)
  const reset = await home.store.reset(provider.pool, name)
  const labels = reset.map(({ label }) => label).join(', ')
  io.stdout.write(reset.length > 0 ? `Used again: ${labels}\n` : 'Nothing rested, nothing was refused.\n')
  return EXIT.ok
}

/** `hermes auth priority PROVIDER NAME N`: its place in the order in which keys are used; 0 is used first. */
export async function authPriority(io: Io, wanted: string, name: string, priority: string): Promise<number> {
  if (!/^\d{1,4}$/.test(priority))
    throw new UsageError('The priority is a whole number of at least 0; 0 is used first.')
  const home = await openAuthHome(io)
  const provider = await findNamed(home, wanted)
  const ordered = await home.store.prioritize(provider.pool, name, Number(priority))
  const order = ordered.map(({ label }) => label).join(', ')
  io.stdout.write(`${provider.title} uses, in this order: ${order}\n`)
  return EXIT.ok
}

/** `hermes auth use PROVIDER NAME`: the first from the next request on; others stand in when it cannot be used. */
export async function authUse(
  io: Io,
  wanted: string,
  name: string,
  { project }: { readonly project?: string | true } = {},
): Promise<number> {
  const home = await openAuthHome(io)
  const provider = await findNamed(home, wanted)
  if (project !== undefined) {
    const named = resolve(io.cwd, project === true ? '.' : project)
    // What was chosen for a folder that is gone can be taken back all the same.
    const folder = name === 'default' ? await realpath(named).catch(() => named) : await existingFolder(named)
    const used = await home.store.useInProject(provider.pool, name === 'default' ? null : name, folder)
    const how = used ? `uses ${used.label} alone` : 'uses its accounts in their order again'
    io.stdout.write(`In ${folder}, ${provider.title} ${how}, from the next request on.\n`)
    return EXIT.ok
  }
  const [first] = await home.store.prioritize(provider.pool, name, 0)
  const strategy = poolStrategy(home.config, provider.name)
  const others =
    strategy === 'fill-first' ? '' : ` credential_pool_strategies has ${strategy} for it: others are used in between.`
  io.stdout.write(`${provider.title} uses ${first!.label} first, from the next request on.${others}\n`)
  return EXIT.ok
}

async function existingFolder(folder: string): Promise<string> {
  const found = await realpath(folder).catch(() => null)
  if (found === null) throw new UsageError(`There is no folder ${folder}.`)
  return found
}

/** `hermes auth refresh PROVIDER NAME`: a new token for a login, before the old one has run out. */
export async function authRefresh(io: Io, wanted: string, name: string): Promise<number> {
  const home = await openAuthHome(io)
  const provider = await findNamed(home, wanted)
  const controller = new AbortController()
  const stopListening = io.onInterrupt(() => controller.abort())
  try {
    const renewed = await home.pool(provider).renew(name, { signal: controller.signal })
    const until = renewed.expiresAtMs === null ? '' : `, good until ${toSeconds(renewed.expiresAtMs)}`
    io.stdout.write(`Renewed ${renewed.label} (${describeHint(renewed)}) of ${provider.title}${until}\n`)
    return EXIT.ok
  } catch (error) {
    if (!isAbort(error)) throw error
    io.stderr.write('No longer waited for; a renewal under way is kept all the same.\n')
    return EXIT.interrupted
  } finally {
    stopListening()
  }
}

/** A moment without its milliseconds. */
function toSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
