import { HermesError } from '@hermes/contracts'
import { similar } from '@hermes/transports'
import type { ModelChoice } from './model-choice.js'

const SHOWN = 5
/** What a vendor leaves out of the short name of a model: `-20250929`, `-2025-09-29`, `-latest`, `-001`. */
const DATED = /^-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|\d{3})$/

/** @throws HermesError `runtime.model_not_listed` when an endpoint that lists its models has none of the chosen name. */
export function refuseUnlisted({ provider, model }: Pick<ModelChoice, 'provider' | 'model'>, names: readonly string[]) {
  if (names.length === 0 || isListed(names, model)) return
  const near = similar(model, names)
  const there = near.length > 0 ? near : names.slice(0, SHOWN)
  throw new HermesError(`${provider} does not list "${model}". Nearest: ${there.join(', ')}.`, {
    code: 'runtime.model_not_listed',
    details: { provider, model, near: there.join(', ') },
  })
}

/** Whether one of the names is that of the model, in a spelling that endpoints take for it. */
export function isListed(names: readonly string[], model: string): boolean {
  return names.some((name) => isNamed(name, model))
}

/** Whether a listed name is what was asked for, in a spelling that endpoints take for it. */
function isNamed(listed: string, model: string): boolean {
  const name = listed.replace(/^models\//, '')
  const wanted = model.replace(/^models\//, '')
  // Ollama adds the tag; OpenRouter takes variants such as :nitro after each name.
  if (name === wanted || name === `${wanted}:latest` || name === wanted.replace(/:[\w-]+$/, '')) return true
  return name.startsWith(wanted) && DATED.test(name.slice(wanted.length))
}
