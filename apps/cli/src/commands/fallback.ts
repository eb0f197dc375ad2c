import { changeConfigList } from '@hermes/config'
import { checkModel } from '../check-model.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, withRuntime } from '../open-cli.js'

const KEY = 'fallback_providers'

/** `hermes fallback list`: who answers when the chosen model does not, in the order in which they are asked. */
export async function listFallbacks(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const { problems } = runtime.fallbacks()
    const entries = runtime.config.fallback_providers
    if (json) io.stdout.write(`${JSON.stringify({ fallbacks: entries.map(publicEntry), problems })}\n`)
    else if (entries.length === 0) io.stderr.write('There is none. Add one with: hermes fallback add PROVIDER MODEL\n')
    else io.stdout.write(entries.map((entry, index) => `${index + 1}  ${describe(entry)}\n`).join(''))
    if (!json) for (const problem of problems) io.stderr.write(`hermes: ${problem}\n`)
    return problems.length > 0 ? EXIT.failed : EXIT.ok
  })
}

/** Flags of `hermes fallback add`. */
interface AddFlags {
  readonly baseUrl?: string
  readonly keyEnv?: string
}

/** `hermes fallback add PROVIDER MODEL`: one more at the end. A missing key is said, a wrong provider refused. */
export async function addFallback(io: Io, provider: string, model: string, flags: AddFlags): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const { baseUrl, keyEnv } = flags
    const missing = checkModel(runtime, { provider, model, ...(baseUrl === undefined ? {} : { baseUrl }) }, keyEnv)
    const entry = {
      provider,
      model,
      ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
      ...(keyEnv === undefined ? {} : { key_env: keyEnv }),
    }
    const isThere = runtime.config.fallback_providers.some((other) => describe(other) === describe(entry))
    if (isThere) throw new UsageError(`${describe(entry)} is a fallback already.`)
    await changeConfigList({ home: homeOf(io), key: KEY, change: (items) => [...items, entry] })
    io.stderr.write(`${describe(entry)} answers when the models before it do not.\n`)
    if (missing) io.stderr.write(`hermes: ${missing}\n`)
    return EXIT.ok
  })
}

/** `hermes fallback remove WHICH`: by number, model, or provider and model. */
export async function removeFallback(io: Io, which: string): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const entries = runtime.config.fallback_providers
    const found = entries.flatMap((entry, index) => (names(entry, index).includes(which) ? [index] : []))
    if (found.length === 0) throw new UsageError(`There is no fallback ${which}. See: hermes fallback list`)
    if (found.length > 1)
      throw new UsageError(`Several fallbacks are called ${which}; take its number: hermes fallback list`)
    await changeConfigList({
      home: homeOf(io),
      key: KEY,
      change: (items) => items.filter((_, index) => index !== found[0]),
    })
    io.stderr.write(`${describe(entries[found[0]!])} is no fallback any more.\n`)
    return EXIT.ok
  })
}

/** `hermes fallback clear`: none any more. */
export async function clearFallbacks(io: Io): Promise<number> {
  await changeConfigList({ home: homeOf(io), key: KEY, change: () => [] })
  io.stderr.write('There is no fallback any more.\n')
  return EXIT.ok
}

type Entry = Readonly<Record<string, unknown>>

function toEntry(entry: unknown): Entry {
  return typeof entry === 'object' && entry !== null ? (entry as Entry) : {}
}

function describe(entry: unknown): string {
  const { provider, model, base_url } = toEntry(entry)
  if (typeof provider !== 'string' || typeof model !== 'string')
    return `${JSON.stringify(entry)} (left out: it needs provider and model)`
  return `${model} at ${provider}${typeof base_url === 'string' ? `, ${base_url}` : ''}`
}

function names(entry: unknown, index: number): readonly string[] {
  const { provider, model } = toEntry(entry)
  return [String(index + 1), String(model), `${String(provider)}/${String(model)}`]
}

/** Keys that somebody wrote into the file are not printed. */
function publicEntry(entry: unknown): Entry {
  const { provider, model, base_url, key_env } = toEntry(entry)
  return { provider, model, base_url, key_env }
}
