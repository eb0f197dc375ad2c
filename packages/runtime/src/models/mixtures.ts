import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { chooseModel, type ModelChoice, type ModelChoiceOptions } from './model-choice.js'

/** The provider name under which presets are chosen like models. */
export const MIXTURE = 'moa'

/** A preset of config.yaml: who is asked, and who answers. */
export interface MixtureChoice {
  readonly preset: string
  readonly references: readonly ModelChoice[]
  readonly aggregator: ModelChoice
}

/** What decides which models a mixture is made of. */
interface MixtureOfAgentsOptions {
  /** `moa` of config.yaml. */
  readonly settings: { readonly default_preset: string; readonly presets: Readonly<Record<string, unknown>> }
  /** Default: `default_preset`. */
  readonly preset?: string | undefined
  readonly modelOptions: Omit<ModelChoiceOptions, 'requested' | 'session'>
}

/**
 * The models of a preset. Its aggregator is by default the model that answers without a mixture. Pure.
 * @throws HermesError `models.unknown_preset`, `models.bad_preset`, and what {@link chooseModel} throws: one line with what to do.
 */
export function chooseMixture({
  settings,
  preset = settings.default_preset,
  modelOptions,
}: MixtureOfAgentsOptions): MixtureChoice {
  const entry = settings.presets[preset]
  if (!isJsonObject(entry)) throw unknownPreset(preset, Object.keys(settings.presets))
  const listed = entry['reference_models']
  if (!Array.isArray(listed) || listed.length === 0 || !listed.every(isJsonObject))
    throw new HermesError(`moa.presets.${preset}.reference_models must be a list of maps with provider and model.`, {
      code: 'models.bad_preset',
      details: { preset },
    })
  const aggregator = entry['aggregator']
  return {
    preset,
    references: listed.map((one: JsonObject) => choose(one, modelOptions)),
    aggregator: choose(isJsonObject(aggregator) ? aggregator : {}, modelOptions),
  }
}

function choose(entry: JsonObject, modelOptions: MixtureOfAgentsOptions['modelOptions']): ModelChoice {
  const text = (name: string) => (typeof entry[name] === 'string' && entry[name] !== '' ? entry[name] : undefined)
  const [provider, model, baseUrl] = [text('provider'), text('model'), text('base_url')]
  const { configured } = modelOptions
  // A mixture that is the configured model cannot be one of its own parts.
  const own = configured.provider === MIXTURE ? { ...configured, provider: undefined, model: undefined } : configured
  return chooseModel({
    ...modelOptions,
    configured: own,
    requested: {
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
    },
    session: null,
  })
}

function unknownPreset(preset: string, known: readonly string[]): HermesError {
  const hint =
    known.length > 0
      ? `There are: ${known.join(', ')}.`
      : 'Make one: hermes moa add NAME, or moa.presets.NAME in config.yaml.'
  return new HermesError(`There is no mixture of models "${preset}". ${hint}`, {
    code: 'models.unknown_preset',
    details: { preset },
  })
}
