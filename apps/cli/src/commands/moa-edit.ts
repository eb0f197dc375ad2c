import { setConfigValue, unsetConfigValue } from '@hermes/config'
import { MIXTURE, type Runtime } from '@hermes/runtime'
import { checkModel } from '../check-model.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, withRuntime } from '../open-cli.js'

/** Flags of `hermes moa add` and `configure`. */
interface PresetFlags {
  /** `PROVIDER/MODEL` each. */
  readonly reference?: readonly string[]
  readonly aggregator?: string
  readonly default?: boolean
}

/** `hermes moa add PRESET`: a missing key is said, a wrong provider refused. The first preset becomes the default. */
export function moaAdd(io: Io, preset: string, flags: PresetFlags): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const { presets, default_preset } = runtime.config.moa
    if (!/^[\w-]+$/.test(preset)) throw new UsageError('The name of a preset has letters, digits, _ and - only.')
    if (Object.hasOwn(presets, preset))
      throw new UsageError(`There is a preset "${preset}" already. Change it: hermes moa configure ${preset} …`)
    if (!flags.reference?.length)
      throw new UsageError('A mixture needs somebody to ask: -r PROVIDER/MODEL, once for each model.')
    const isDefault = flags.default || !Object.hasOwn(presets, default_preset)
    await save(io, runtime, preset, { ...flags, default: isDefault })
    io.stderr.write(
      `Ask it with: hermes moa try --preset ${preset} QUESTION, or chat with it: hermes --provider moa -m ${preset}\n`,
    )
    return EXIT.ok
  })
}

/** `hermes moa configure PRESET`: references are replaced all together; what is not named stays. */
export function moaConfigure(io: Io, preset: string, flags: PresetFlags): Promise<number> {
  return withRuntime(io, async (runtime) => {
    requirePreset(runtime, preset)
    if (!flags.reference && flags.aggregator === undefined && !flags.default)
      throw new UsageError('Nothing to change: name -r PROVIDER/MODEL, -a PROVIDER/MODEL or --default.')
    await save(io, runtime, preset, flags)
    io.stderr.write(`Changed ${preset}.\n`)
    return EXIT.ok
  })
}

/** `hermes moa remove PRESET`. */
export function moaRemove(io: Io, preset: string): Promise<number> {
  return withRuntime(io, async (runtime) => {
    requirePreset(runtime, preset)
    await unsetConfigValue({ home: homeOf(io), key: `moa.presets.${preset}` })
    io.stderr.write(`There is no preset ${preset} any more.\n`)
    if (preset === runtime.config.moa.default_preset)
      io.stderr.write('It was the default; name another one: hermes moa configure NAME --default\n')
    return EXIT.ok
  })
}

function requirePreset(runtime: Runtime, preset: string): void {
  const names = Object.keys(runtime.config.moa.presets)
  if (names.includes(preset)) return
  const hint = names.length > 0 ? `There are: ${names.join(', ')}.` : 'There is none yet: hermes moa add'
  throw new UsageError(`There is no mixture of models "${preset}". ${hint}`)
}

async function save(io: Io, runtime: Runtime, preset: string, flags: PresetFlags): Promise<void> {
  const [references, aggregator] = [flags.reference?.map(toEntry), flags.aggregator && toEntry(flags.aggregator)]
  const named = [...(references ?? []), ...(aggregator ? [aggregator] : [])]
  const missing = new Set(named.flatMap((entry) => checkModel(runtime, entry) ?? []))
  const set = (key: string, value: string) => setConfigValue({ home: homeOf(io), key: `moa.${key}`, value })
  if (references) await set(`presets.${preset}.reference_models`, JSON.stringify(references))
  if (aggregator) await set(`presets.${preset}.aggregator`, JSON.stringify(aggregator))
  if (flags.default) await set('default_preset', preset)
  for (const line of missing) io.stderr.write(`hermes: ${line}\n`)
}

/** `openrouter/anthropic/claude-opus-4.6`: the provider ends at the first slash. */
function toEntry(text: string): { readonly provider: string; readonly model: string } {
  const [, provider, model] = /^([^/\s]+)\/(\S+)$/.exec(text) ?? []
  if (provider === undefined || model === undefined)
    throw new UsageError(`"${text}" is not PROVIDER/MODEL, such as openrouter/anthropic/claude-opus-4.6.`)
  if (provider === MIXTURE) throw new UsageError('A mixture cannot be a part of another one.')
  return { provider, model }
}
