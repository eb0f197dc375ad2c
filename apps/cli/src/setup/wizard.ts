import { findProvider, PROVIDERS, type Provider, similarProviders } from '@hermes/transports'
import { UsageError } from '../errors.js'
import type { Asker } from '../interactive/questions.js'
import type { Endpoint } from './endpoint.js'
import { checkAddress, keyOf } from './from-flags.js'
import type { FoundServer } from './local-servers.js'

/** A way to reach a model that can be picked. */
interface Way {
  readonly label: string
  /** `null` when the person changed their mind. */
  take(asker: Asker): Promise<Endpoint | null>
}

/** Asks which way to take: what was found first, then what needs a key, then any address. `null` when nobody answers. */
export async function chooseEndpoint(
  asker: Asker,
  {
    servers,
    secrets,
  }: { readonly servers: readonly FoundServer[]; readonly secrets: Readonly<Record<string, string>> },
): Promise<Endpoint | null> {
  const ways = [
    ...servers.map(runningHere),
    ...withKey(secrets),
    ...withoutKey(secrets),
    anyProvider(secrets),
    ANY_ADDRESS,
  ]
  const title = 'Which model provider should Hermes use?'
  const answer = await asker.pick({ title, options: ways.map(({ label }) => ({ label })), freeText: false })
  return answer.type === 'option' ? ways[answer.index]!.take(asker) : null
}

function runningHere(server: FoundServer): Way {
  const { models, ...endpoint } = server
  const count = `${models.length} model${models.length === 1 ? '' : 's'}`
  return { label: `${server.name} on this machine (${count})`, take: async () => endpoint }
}

const remote = PROVIDERS.filter(({ auth, baseUrl, local }) => auth === 'key' && baseUrl !== null && !local)

function withKey(secrets: Readonly<Record<string, string>>): readonly Way[] {
  return remote.flatMap((provider) => {
    const { name } = provider
    const apiKey = keyOf(provider.keyVariables, secrets)
    if (apiKey === null) return []
    const endpoint = toEndpoint(provider, apiKey)
    const others: Way = { label: `${name}, another key`, take: (asker) => askKey(asker, { ...endpoint, apiKey: null }) }
    return [{ label: `${name} (key found)`, take: async () => endpoint }, others]
  })
}

/** As many as fit on a screen beside the rest. */
const OFFERED = 6

function withoutKey(secrets: Readonly<Record<string, string>>): readonly Way[] {
  return remote
    .slice(0, OFFERED)
    .filter(({ keyVariables }) => keyOf(keyVariables, secrets) === null)
    .map((provider) => ({
      label: `${provider.name} (asks for a key)`,
      take: (asker) => askKey(asker, toEndpoint(provider, null)),
    }))
}

function toEndpoint({ id, name, baseUrl }: Provider, apiKey: string | null): Endpoint {
  return { provider: id, name, baseUrl: baseUrl!, apiKey, keyEnv: null, isNewKey: false }
}

/** The rest of the catalogue, by name. */
function anyProvider(secrets: Readonly<Record<string, string>>): Way {
  return {
    label: `Another of ${remote.length} providers, by its name`,
    take: async (asker) => {
      const title = 'Its name, for example groq, mistral, zai or kimi (all: hermes model list)'
      const answer = await asker.pick({ title, options: [], freeText: true })
      if (answer.type !== 'text') return null
      const name = answer.text.trim()
      const provider = findProvider(name)
      if (!provider || !remote.includes(provider)) {
        const meant = similarProviders(name)
        const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
        throw new UsageError(`There is no provider "${name}" with a key.${hint}`)
      }
      const apiKey = keyOf(provider.keyVariables, secrets)
      return apiKey === null ? askKey(asker, toEndpoint(provider, null)) : toEndpoint(provider, apiKey)
    },
  }
}

const ANY_ADDRESS: Way = {
  label: 'Another server with an OpenAI-compatible API',
  take: async (asker) => {
    const title = 'Its address, for example http://127.0.0.1:8080/v1'
    const answer = await asker.pick({ title, options: [], freeText: true })
    if (answer.type !== 'text') return null
    const baseUrl = withScheme(answer.text.trim())
    checkAddress(baseUrl)
    const endpoint = { provider: 'custom', name: baseUrl, baseUrl, apiKey: null, keyEnv: null, isNewKey: false }
    const keyed = await asker.pick({
      title: 'Does it want a key?',
      options: [
        { label: 'no', key: 'n' },
        { label: 'yes', key: 'y' },
      ],
      freeText: false,
    })
    if (keyed.type !== 'option') return null
    return keyed.index === 0 ? endpoint : askKey(asker, endpoint)
  },
}

const HOST = /^(?:[\w-]+(?:\.[\w-]+)+|localhost|\[[\da-f:]+\])(?::\d+)?(?:\/|$)/i
const NEAR = /^(?:localhost|127\.|10\.|192\.168\.|\[::1\])/i

/** An address as it is often written: without what it begins with, which is `http` on this machine and its network, else `https`. */
function withScheme(address: string): string {
  if (!HOST.test(address)) return address
  return `${NEAR.test(address) ? 'http' : 'https'}://${address}`
}

async function askKey(asker: Asker, endpoint: Endpoint): Promise<Endpoint | null> {
  const title = `The key for ${endpoint.name} (not shown; kept in .env of the Hermes home, readable by you alone)`
  const answer = await asker.pick({ title, options: [], freeText: true, isSecret: true })
  if (answer.type !== 'text') return null
  const apiKey = answer.text.trim()
  if (/\s/.test(apiKey)) throw new UsageError('A key has no spaces or line breaks in it. Nothing was kept.')
  return { ...endpoint, apiKey, isNewKey: true }
}

/** Asks which of the models; any other name may be typed. `null` when nobody answers. */
export async function chooseModelName(
  asker: Asker,
  models: readonly string[],
  preferred: string | undefined,
): Promise<string | null> {
  const isFirst = (model: string) => Number(model !== preferred)
  const options = models.toSorted((a, b) => isFirst(a) - isFirst(b)).map((label) => ({ label }))
  const title = models.length > 0 ? 'Which model?' : 'The name of the model (the server does not list any)'
  const answer = await asker.pick({ title, options, freeText: true })
  if (answer.type === 'option') return options[answer.index]!.label
  return answer.type === 'text' ? answer.text.trim() : null
}
