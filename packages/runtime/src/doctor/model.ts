import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type { Finding } from '@hermes/contracts/extension'
import { listModels } from '@hermes/transports'
import type { ModelChoice } from '../models/model-choice.js'
import type { Runtime } from '../runtime.js'
import { fail, ok, warn } from './finding.js'

const TIMEOUT_MS = 5_000

/** Whether a model is chosen and its server answers; the server is asked for its list of models, which costs nothing. */
export async function modelFinding(runtime: Runtime, { isOffline }: { readonly isOffline: boolean }): Promise<Finding> {
  try {
    const choice = runtime.chooseModel({})
    const credentials = await runtime.credentialsFor(choice)
    const apiKey = credentials ? ((await credentials.select())?.secret ?? null) : choice.apiKey
    const none = credentials ? 'no key that can be used now, see hermes auth list' : 'no key'
    const what = `Model ${choice.model} at ${choice.provider} (${choice.baseUrl}), ${apiKey ? 'key found' : none}`
    return isOffline ? ok(`${what}; not asked`) : await reach(runtime, { ...choice, apiKey }, what)
  } catch (error) {
    return fail(`${errorLine(error).replace(/\.?$/, '.')} Or run: hermes setup`)
  }
}

async function reach(runtime: Runtime, choice: ModelChoice, what: string): Promise<Finding> {
  const { catalogueId, baseUrl, apiKey, api, model } = choice
  try {
    const fetch = runtime.fetchTo(baseUrl)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const models = await listModels({ provider: catalogueId, baseUrl, apiKey, api, fetch, signal })
    if (models.length > 0 && !models.includes(model))
      return warn(`${what}: the server answers, but ${model} is not in its list. Choose another with: hermes setup`)
    return ok(`${what}: the server answers`)
  } catch (error) {
    return unreachable(error, what, baseUrl)
  }
}

function unreachable(error: unknown, what: string, baseUrl: string): Finding {
  const status = HermesError.isInstance(error) ? error.details['status'] : undefined
  if (status === 401 || status === 403)
    return fail(`${what}: the server refuses the key. Set another with: hermes setup`)
  if (typeof status === 'number' && status < 500) return warn(`${what}: the server answers, but lists no models`)
  if (typeof status === 'number') return fail(`${what}: the server answers with status ${status}. Try again later`)
  const isLate = isAbort(error) || (error as { name?: unknown }).name === 'TimeoutError'
  const why = isLate ? `no answer within ${TIMEOUT_MS / 1000} s` : reason(error)
  return fail(`${what}: not reachable, ${why}. Check the network and that a server runs at ${baseUrl}`)
}

/** What `fetch` hides behind "fetch failed". */
function reason(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : errorLine(error)
}
