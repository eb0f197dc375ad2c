import { isAbort } from '@hermes/contracts'
import type { CredentialInfo, NewCredential } from '@hermes/credential-pool'
import { oauthSettings } from '@hermes/runtime'
import { findProvider, PROVIDERS } from '@hermes/transports'
import { type AuthHome, findNamed, type NamedProvider, openAuthHome } from '../auth/auth-home.js'
import { describeHint } from '../auth/describe-credential.js'
import { type LoginFlow, logIn } from '../auth/login.js'
import { EXIT, UsageError } from '../errors.js'
import { canAsk, type Io } from '../io.js'
import { readPipedInput } from '../stdin.js'

/** Flags of `hermes auth add`. */
interface AuthAddFlags {
  readonly keyStdin?: boolean
  readonly oauth?: boolean
  readonly flow?: LoginFlow
  readonly label?: string
  readonly priority?: number
}

/** `hermes auth add [provider]`: keeps a key that is typed unseen or piped in, or logs in. */
export async function authAdd(io: Io, wanted: string | undefined, flags: AuthAddFlags): Promise<number> {
  if (flags.priority !== undefined && !(Number.isInteger(flags.priority) && flags.priority >= 0))
    throw new UsageError('--priority must be a whole number of at least 0; 0 is used first.')
  if (flags.keyStdin && (flags.oauth || flags.flow)) throw new UsageError('--key-stdin and a login exclude each other.')
  const home = await openAuthHome(io)
  const provider = wanted === undefined ? await askProvider(io, home) : await findNamed(home, wanted)
  if (provider === null) return aborted(io)
  const wantsLogin = flags.oauth || flags.flow !== undefined
  const onlyLogin = findProvider(provider.pool)?.auth === 'oauth' && !flags.keyStdin
  const grant =
    wantsLogin || onlyLogin
      ? await loginGrant(io, home, { provider, flow: flags.flow })
      : await keyGrant(io, home, { provider, flags })
  if (grant === null) return aborted(io)
  const { label, priority } = flags
  const kept = await home.store.add({ ...grant, provider: provider.pool, label, priority })
  io.stdout.write(`${summary(kept, provider)} in ${home.path}\n`)
  return EXIT.ok
}

function summary(kept: CredentialInfo, { title }: NamedProvider): string {
  return `Kept ${kept.label} (${describeHint(kept)}) for ${title}`
}

function aborted(io: Io): number {
  io.stderr.write('Nothing was kept.\n')
  return EXIT.interrupted
}

async function askProvider(io: Io, home: AuthHome): Promise<NamedProvider | null> {
  if (!canAsk(io)) throw new UsageError('Which provider? For example: hermes auth add openrouter --key-stdin')
  const choices = PROVIDERS.filter(({ auth, baseUrl }) => auth !== 'none' && auth !== 'aws' && baseUrl !== null)
  const { createAsker } = await import('../interactive/person.js')
  const options = choices.map(({ name }) => ({ label: name }))
  const answer = await createAsker(io).pick({ title: 'A key or login for which provider?', options, freeText: false })
  return answer.type === 'option' ? findNamed(home, choices[answer.index]!.id) : null
}

type Grant = Pick<NewCredential, 'baseUrl'> &
  (
    | Pick<Extract<NewCredential, { type: 'api-key' }>, 'type' | 'secret'>
    | Pick<Extract<NewCredential, { type: 'oauth' }>, 'type' | 'tokens' | 'settings' | 'tokenEndpoint' | 'flow'>
  )

async function keyGrant(
  io: Io,
  home: AuthHome,
  { provider, flags }: { readonly provider: NamedProvider; readonly flags: AuthAddFlags },
): Promise<Grant | null> {
  const baseUrl = addressOf(home, provider)
  const secret = flags.keyStdin ? await pipedKey(io) : await typedKey(io, provider)
  if (secret === null) return null
  const own = findProvider(provider.pool)?.keyAddresses?.find(({ prefix }) => secret.startsWith(prefix))
  return { type: 'api-key', secret, baseUrl: own?.baseUrl ?? baseUrl }
}

/** The only server a key may go to; nothing where the provider has one of its own. */
function addressOf({ config }: AuthHome, { pool }: NamedProvider): string | undefined {
  if (pool !== 'custom') return undefined
  if (config.model.base_url) return config.model.base_url
  throw new UsageError(
    'A key for "custom" could go anywhere. Name the endpoint first: hermes config set providers.NAME.base_url URL',
  )
}

async function pipedKey(io: Io): Promise<string> {
  const text = await readPipedInput(io)
  if (text === null)
    throw new UsageError('--key-stdin found no key. Pipe it in: hermes auth add PROVIDER --key-stdin < FILE')
  return text.trim()
}

async function typedKey(io: Io, { title, name }: NamedProvider): Promise<string | null> {
  if (!canAsk(io))
    throw new UsageError(`Nobody can be asked here. Pipe the key in: hermes auth add ${name} --key-stdin < FILE`)
  const { createAsker } = await import('../interactive/person.js')
  const question = `The key for ${title} (not shown; kept in auth.json of the Hermes home, readable by you alone)`
  const answer = await createAsker(io).pick({ title: question, options: [], freeText: true, isSecret: true })
  return answer.type === 'text' ? answer.text.trim() : null
}

async function loginGrant(
  io: Io,
  home: AuthHome,
  { provider, flow }: { readonly provider: NamedProvider; readonly flow: LoginFlow | undefined },
): Promise<Grant | null> {
  const settings = oauthSettings(home.config, provider.name)
  const section = `providers.${provider.name}.oauth`
  if (settings === null)
    throw new UsageError(
      `A login at ${provider.title} needs a client of yours: register one there, then set ${section}.client_id and ${section}.issuer (or its endpoints) in config.yaml.`,
    )
  const controller = new AbortController()
  const stopListening = io.onInterrupt(() => controller.abort())
  try {
    return {
      type: 'oauth',
      settings,
      baseUrl: addressOf(home, provider),
      ...(await logIn(io, settings, { flow, signal: controller.signal })),
    }
  } catch (error) {
    if (isAbort(error)) return null
    throw error
  } finally {
    stopListening()
  }
}
