import { setConfigValue, unsetConfigValue } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import { isListed, type ModelChoice, type Runtime } from '@hermes/runtime'
import { findProvider, listModels, PROVIDERS, similar } from '@hermes/transports'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, withRuntime } from '../open-cli.js'
import { createStyle } from '../render/style.js'

const TIMEOUT_MS = 10_000

/** Which model is meant. */
export interface Where {
  readonly provider?: string
  readonly baseUrl?: string
}

/**
 * `hermes model list [PROVIDER]`: what a provider offers, else all providers: `ready` with a key that is there, `untried` where
 * Hermes needs no key of its own and has not asked whether a server answers.
 */
export async function modelList(
  io: Io,
  provider: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<number> {
  return withRuntime(io, async (runtime) => {
    if (provider === undefined) return listProviders(io, runtime, json ?? false)
    const choice = runtime.chooseModel({ provider, model: findProvider(provider)?.defaultModel ?? 'any' })
    const names = await namesAt(runtime, choice)
    if (names === null)
      throw new UsageError(`${choice.provider} does not say which models it has. Name one: hermes model set MODEL`)
    io.stdout.write(json ? `${JSON.stringify(names)}\n` : names.map((name) => `${name}\n`).join(''))
    return EXIT.ok
  })
}

function listProviders(io: Io, runtime: Runtime, json: boolean): number {
  const ofExtensions = runtime.extensions
    .list('factory')
    .flatMap(({ owner, item }) => (item.kind === 'model-provider' ? [[item.name, `the extension ${owner}`]] : []))
  const ofConfig = Object.keys(runtime.config.providers).map((id) => [id, 'config.yaml'])
  const own = Object.entries(Object.fromEntries([...ofExtensions, ...ofConfig]) as Record<string, string>)
  const named = own.map(([id, name]) => ({ id, name, defaultModel: null }))
  const known = PROVIDERS.map(({ id, name, defaultModel = null }) => ({ id, name, defaultModel }))
  const all = [...named.filter(({ id }) => !findProvider(id)), ...known].map((entry) => ({
    ...entry,
    ready: isReady(runtime, entry.id),
  }))
  if (json) {
    io.stdout.write(`${JSON.stringify(all)}\n`)
    return EXIT.ok
  }
  const style = createStyle(io.stdout)
  const width = Math.max(...all.map(({ id }) => id.length))
  for (const { id, name, defaultModel, ready } of all) {
    const known = findProvider(id)
    const isUntried = ready && (known?.keyRequired === false || known?.auth === 'aws')
    const mark = isUntried ? style.dim('untried') : ready ? style.green('ready  ') : '       '
    io.stdout.write(`${id.padEnd(width)}  ${mark}  ${name}${defaultModel ? style.dim(`, ${defaultModel}`) : ''}\n`)
  }
  return EXIT.ok
}

/** Whether a request could be sent there: there is an address, and a key where one is needed. */
function isReady(runtime: Runtime, provider: string): boolean {
  try {
    runtime.chooseModel({ provider, model: 'any' })
    return true
  } catch {
    return false
  }
}

/** The models an endpoint lists, else those that models.dev knows of it; `null` for none. */
async function namesAt(runtime: Runtime, choice: ModelChoice): Promise<readonly string[] | null> {
  const { catalogueId: provider, baseUrl, api, headers, quirks } = choice
  const apiKey = (await (await runtime.credentialsFor(choice))?.select())?.secret ?? choice.apiKey
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const fetch = runtime.fetchTo(baseUrl)
  const listed = await listModels({ provider, baseUrl, apiKey, api, headers, quirks, fetch, signal }).catch(() => [])
  if (listed.length > 0) return listed
  const known = await (await runtime.models.directory()).names(provider)
  return known.length > 0 ? known : null
}

/** `hermes model set MODEL`: keeps a model in config.yaml once the endpoint is known to have it, or does not say. */
export async function modelSet(
  io: Io,
  wanted: string,
  { force = false, window, ...where }: Where & { readonly force?: boolean; readonly window?: number },
): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const choice = chooseEvenWithoutKey(runtime, { ...where, model: wanted })
    const names = choice === null || force ? null : await namesAt(runtime, choice)
    // A name of the person's own stands for another one, and that is what the server knows.
    const resolved = choice?.model ?? wanted
    if (names && !isListed(names, resolved)) {
      const meant = similar(resolved, names)
      const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
      throw new UsageError(
        `${choice!.provider} does not list "${resolved}".${hint} See hermes model list ${choice!.provider}, or say --force.`,
      )
    }
    const model = window === undefined || !choice ? wanted : await withWindow(runtime, choice, window)
    const [home, before] = [homeOf(io), runtime.config.model]
    const provider = where.provider ?? (where.baseUrl === undefined ? choice?.provider : 'custom')
    await setConfigValue({ home, key: 'model.default', value: model })
    if (provider !== undefined && provider !== before.provider) {
      await setConfigValue({ home, key: 'model.provider', value: provider })
      for (const key of ['base_url', 'api_key', 'key_env', 'api_mode', 'context_length'])
        await unsetConfigValue({ home, key: `model.${key}` })
    }
    if (where.baseUrl !== undefined) await setConfigValue({ home, key: 'model.base_url', value: where.baseUrl })
    io.stdout.write(`${model}${provider === undefined ? '' : ` at ${provider}`} is what Hermes uses from now on.\n`)
    if (choice === null) io.stderr.write(`hermes: ${missing(runtime, { ...where, model })}\n`)
    if (names === null && !force && provider !== undefined)
      io.stderr.write(await likelyTypo(runtime, provider, resolved))
    return EXIT.ok
  })
}

async function withWindow(runtime: Runtime, choice: ModelChoice, tokens: number): Promise<string> {
  return (await import('./model-window.js')).modelWithWindow(runtime, choice, tokens)
}

/** A line for a model that nobody could be asked about and that looks like one that is known; else nothing. */
async function likelyTypo(runtime: Runtime, provider: string, model: string): Promise<string> {
  const names = await (await runtime.models.directory()).someNames(findProvider(provider)?.id ?? provider)
  const meant = names.includes(model) ? [] : similar(model, names)
  if (meant.length === 0) return ''
  return `hermes: ${provider} could not be asked whether it has "${model}". Did you mean ${meant.join(' or ')}?\n`
}

/** The choice; `null` when only a key is missing, which may come later. */
function chooseEvenWithoutKey(runtime: Runtime, requested: Where & { readonly model: string }): ModelChoice | null {
  try {
    return runtime.chooseModel(requested)
  } catch (error) {
    if (HermesError.isInstance(error) && error.code === 'models.no_key') return null
    throw error
  }
}

function missing(runtime: Runtime, requested: Where & { readonly model: string }): string {
  try {
    runtime.chooseModel(requested)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * `hermes model refresh`: forgets what endpoints said of their models and what refusals taught, and fetches the catalogue of models.dev, or
 * of the mirror in config.yaml, now.
 */
export async function modelRefresh(io: Io): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const directory = await runtime.models.directory()
    await directory.forget()
    const outcome = await directory.refresh({ force: true })
    if (outcome === 'updated') {
      io.stdout.write('What is known of models and their prices is up to date.\n')
      return EXIT.ok
    }
    const where = runtime.config.models_dev.url || 'models.dev'
    io.stderr.write(
      `hermes: ${where} could not be read; the list known before stays, windows that were learned are forgotten. Check the network, or models_dev.url; the log says why.\n`,
    )
    return EXIT.failed
  })
}
