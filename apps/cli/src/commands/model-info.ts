import { HermesError } from '@hermes/contracts'
import type { ModelFacts, RequestedModel } from '@hermes/models/metadata'
import { type Runtime, toRequestedModel } from '@hermes/runtime'
import { findProvider, PROVIDERS, similar } from '@hermes/transports'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withRuntime } from '../open-cli.js'
import type { Where } from './model.js'

/** `hermes model info [MODEL]`: what is known about a model, and who says so; no key is needed for that. */
export async function modelInfo(
  io: Io,
  model: string | undefined,
  { json, ...where }: Where & { readonly json?: boolean },
): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const meant = await findModel(runtime, { ...where, ...(model === undefined ? {} : { model }) })
    const facts = await (await runtime.models.directory()).facts(meant.requested)
    const { provider, baseUrl } = meant
    io.stdout.write(json ? `${JSON.stringify({ provider, baseUrl, ...facts })}\n` : describe(meant, facts))
    return EXIT.ok
  })
}

interface Meant {
  readonly provider: string
  readonly baseUrl: string
  readonly requested: RequestedModel
  /** What to do for a key; `null` where there is one or none is needed. */
  readonly missing: string | null
}

type Wanted = Where & { readonly model?: string }

async function findModel(runtime: Runtime, wanted: Wanted): Promise<Meant> {
  try {
    const choice = runtime.chooseModel(wanted)
    return { provider: choice.provider, baseUrl: choice.baseUrl, requested: toRequestedModel(choice), missing: null }
  } catch (error) {
    if (!isKeyless(error)) throw error
    return withoutKey(runtime, wanted, error)
  }
}

/** The model at the provider that is named, else at the first that has one of this name. */
async function withoutKey(runtime: Runtime, wanted: Wanted, error: HermesError): Promise<Meant> {
  const named = findProvider(wanted.provider ?? runtime.config.model.provider ?? '')
  const configured = wanted.provider === undefined ? runtime.config.model.default : undefined
  const model = wanted.model ?? configured ?? named?.defaultModel
  if (model === undefined) throw error
  const provider = named ?? (await providerOf(runtime, model))
  const baseUrl = provider.baseUrl ?? ''
  const requested = { provider: provider.id, baseUrl, model }
  return { provider: provider.id, baseUrl, requested, missing: missingKey(runtime, { provider: provider.id, model }) }
}

function isKeyless(error: unknown): error is HermesError {
  return HermesError.isInstance(error) && error.code === 'models.no_key'
}

function missingKey(runtime: Runtime, wanted: Wanted): string | null {
  try {
    runtime.chooseModel(wanted)
    return null
  } catch (error) {
    if (isKeyless(error)) return error.message
    throw error
  }
}

async function providerOf(runtime: Runtime, model: string): Promise<(typeof PROVIDERS)[number]> {
  const directory = await runtime.models.directory()
  const withNames = PROVIDERS.filter(({ baseUrl }) => baseUrl !== null).map(
    async (provider) => [provider, await directory.someNames(provider.id)] as const,
  )
  const all = await Promise.all(withNames)
  const found = all.find(([, names]) => names.includes(model))
  if (found) return found[0]
  const meant = similar(
    model,
    all.flatMap(([, names]) => names),
  )
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
  throw new UsageError(`No provider is known to have a model "${model}".${hint} Name one with --provider.`)
}

function describe({ provider, baseUrl, missing }: Meant, facts: ModelFacts): string {
  const { contextLength, maxOutputTokens, prices, abilities } = facts
  const rows: readonly (readonly [string, string])[] = [
    ['model', facts.model],
    ['provider', `${provider} (${baseUrl})`],
    ['window', `${count(contextLength.value)} tokens (${contextLength.source})`],
    [
      'answer',
      maxOutputTokens ? `up to ${count(maxOutputTokens.value)} tokens (${maxOutputTokens.source})` : 'unknown',
    ],
    ['price', prices ? price(prices) : 'unknown'],
    ...Object.entries(abilities).map(([name, value]) => [name, value ? 'yes' : 'no'] as const),
    ...(missing === null ? [] : [['key', `none. ${missing}`] as const]),
  ]
  return rows.map(([name, value]) => `${name.padEnd(10)}${value}\n`).join('')
}

function price({ value, source, asOf }: NonNullable<ModelFacts['prices']>): string {
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion, tiers } = value
  const cached = cacheReadPerMillion === undefined ? '' : `, $${cacheReadPerMillion} cached`
  const more = tiers?.length ? `; more above ${count(tiers[0]!.aboveInputTokens)} tokens` : ''
  const from = asOf === null ? source : `${source}, ${asOf}`
  return `$${inputPerMillion} in${cached}, $${outputPerMillion} out per million tokens${more} (${from})`
}

function count(tokens: number): string {
  return tokens.toLocaleString('en')
}
