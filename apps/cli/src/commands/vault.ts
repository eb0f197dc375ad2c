import type { Runtime } from '@hermes/runtime'
import { EXIT, UsageError } from '../errors.js'
import { canAsk, type Io } from '../io.js'
import { withRuntime } from '../open-cli.js'
import { renderTable } from '../render/command-table.js'
import { readPipedInput } from '../stdin.js'

type Vault = Runtime['vault']

const VARIABLE = 'HERMES_VAULT_PASSPHRASE'

/** Flags of `hermes vault add`. */
interface VaultAddFlags {
  readonly site: string
  readonly user: string
  readonly codes?: boolean
  readonly passwordStdin?: boolean
}

/** `hermes vault list`: what may be said of the logins. */
export function vaultList(io: Io, { json = false }: { readonly json?: boolean }): Promise<number> {
  return withVault(io, { makes: false }, async (vault) => {
    const logins = await vault.list()
    if (json) for (const login of logins) io.stdout.write(`${JSON.stringify(login)}\n`)
    else if (logins.length === 0) io.stderr.write('The vault is empty.\n')
    else {
      const rows = logins.map(({ name, user, origin, hasCodes }) => ({
        cells: [name, user, origin, hasCodes ? 'makes codes' : ''],
      }))
      io.stdout.write(renderTable({ rows }, io.stdout))
    }
    return EXIT.ok
  })
}

/** `hermes vault add NAME`: keeps a login whose password is typed unseen or piped in. */
export function vaultAdd(io: Io, name: string, flags: VaultAddFlags): Promise<number> {
  const origin = originOf(flags.site)
  return withVault(io, { makes: true }, async (vault) => {
    const password = flags.passwordStdin
      ? await piped(io)
      : await typed(io, `The password of ${flags.user} at ${origin}`)
    if (password === null) return nothingKept(io)
    const seed = flags.codes
      ? await typed(io, 'What its codes are made of (letters and digits that the site shows)')
      : null
    await vault.put({ name, origin, user: flags.user, password, ...(seed === null ? {} : { seed }) })
    io.stdout.write(`Kept ${name}: ${flags.user} at ${origin}\n`)
    return EXIT.ok
  })
}

/** `hermes vault remove NAME`. */
export function vaultRemove(io: Io, name: string): Promise<number> {
  return withVault(io, { makes: false }, async (vault) => {
    const was = await vault.remove(name)
    io.stdout.write(was ? `Removed ${name}\n` : `The vault has no login ${name}.\n`)
    return was ? EXIT.ok : EXIT.failed
  })
}

/** Opens the vault with the passphrase of the environment, or one that is typed unseen; twice for a new vault. */
function withVault(
  io: Io,
  { makes }: { readonly makes: boolean },
  work: (vault: Vault) => Promise<number>,
): Promise<number> {
  return withRuntime(io, async ({ vault }) => {
    const isThere = await vault.exists()
    if (!isThere && !makes) {
      io.stderr.write('There is no vault yet. Make one with: hermes vault add NAME --site ADDRESS --user USER\n')
      return EXIT.ok
    }
    const passphrase =
      io.env[VARIABLE] ||
      (await typed(
        io,
        isThere
          ? 'The passphrase of your vault'
          : 'A passphrase for your new vault; without it nobody can read the vault, you included',
      ))
    if (passphrase === null) return nothingKept(io)
    if (!isThere && !io.env[VARIABLE] && (await typed(io, 'The same passphrase again')) !== passphrase)
      throw new UsageError('These were two passphrases; no vault was made.')
    await vault.unlock(passphrase)
    return work(vault)
  })
}

function originOf(site: string): string {
  const address = /^https?:\/\//.test(site) ? site : `https://${site}`
  if (!URL.canParse(address))
    throw new UsageError(`--site ${site} is no address; it is written like https://example.com`)
  return new URL(address).origin
}

async function piped(io: Io): Promise<string> {
  const text = await readPipedInput(io)
  if (text === null) throw new UsageError('--password-stdin found no password. Pipe it in.')
  return text.replace(/\r?\n$/, '')
}

async function typed(io: Io, title: string): Promise<string | null> {
  if (!canAsk(io))
    throw new UsageError(`Nobody can be asked here: set ${VARIABLE}, and pipe the password in with --password-stdin.`)
  const { createAsker } = await import('../interactive/person.js')
  const answer = await createAsker(io).pick({ title, options: [], freeText: true, isSecret: true })
  return answer.type === 'text' && answer.text !== '' ? answer.text : null
}

function nothingKept(io: Io): number {
  io.stderr.write('Nothing was kept.\n')
  return EXIT.interrupted
}
