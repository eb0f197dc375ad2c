import type { ModelChoice, Runtime } from '@hermes/runtime'
import { UsageError } from '../errors.js'

const TIMEOUT_MS = 60_000
const MIN_TOKENS = 1_024

/**
 * Has Ollama make a model that is `choice`'s with a window of so many tokens, and resolves with its name. It shares the weights. That is the
 * one way: a request to its OpenAI-compatible API takes no window, and loads the model anew with the window of its own.
 * @throws UsageError for what is no window, and where the server makes no models.
 * @see https://github.com/ollama/ollama/blob/main/docs/api.md#create-a-model
 */
export async function modelWithWindow(runtime: Runtime, choice: ModelChoice, tokens: number): Promise<string> {
  if (!Number.isSafeInteger(tokens) || tokens < MIN_TOKENS)
    throw new UsageError(`A window is a number of tokens of at least ${MIN_TOKENS}, for example --window 32768.`)
  const { model: from, baseUrl } = choice
  const name = `${from}${from.includes(':') ? '-' : ':'}${Math.round(tokens / 1_024)}k`
  const address = `${baseUrl.replace(/\/v1\/?$/, '')}/api/create`
  const body = JSON.stringify({ model: name, from, parameters: { num_ctx: tokens }, stream: false })
  const failed = (why: string) =>
    new UsageError(
      `${choice.provider} made no model with that window (${why}). Only Ollama can; other servers are started with theirs.`,
    )
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const response = await runtime
    .fetchTo(baseUrl)(address, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
    .catch((error: Error) => {
      throw failed(error.message)
    })
  const text = (await response.text()).slice(0, 200)
  if (!response.ok || !/"status"\s*:\s*"success"/.test(text)) throw failed(`HTTP ${response.status}`)
  return name
}
