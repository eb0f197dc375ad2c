// Voice notes as words, by a service that speaks as OpenAI's /audio/transcriptions: https://platform.openai.com/docs/api-reference/audio
import type { HermesConfig } from '@hermes/config'
import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type { Policy, Subject } from '@hermes/contracts/policy'
import type { ChatVariables } from '@hermes/runtime'

/** As large as these services take. */
const MAX_BYTES = 25 * 1024 * 1024
const MAX_ANSWER_BYTES = 1024 * 1024
/** Others wait to be heard meanwhile. */
const WITHIN_MS = 30_000
/** Services go by the ending of the name. */
const ENDINGS: Readonly<Record<string, string>> = {
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/wav': 'wav',
  'audio/webm': 'webm',
  'audio/flac': 'flac',
}
const SERVICES = {
  openai: { label: 'OpenAI', url: 'https://api.openai.com/v1', keys: ['VOICE_TOOLS_OPENAI_KEY', 'OPENAI_API_KEY'] },
  groq: { label: 'Groq', url: 'https://api.groq.com/openai/v1', keys: ['GROQ_API_KEY'] },
  mistral: { label: 'Mistral', url: 'https://api.mistral.ai/v1', keys: ['MISTRAL_API_KEY'] },
} as const

/** What somebody spoke. */
interface Recording {
  readonly bytes: Uint8Array
  /** Default `audio/ogg`, as voice notes are. */
  readonly mediaType?: string | undefined
}

/**
 * The words of a recording, on behalf of a session; `''` where nothing was spoken. Rejects with one line: what the policy or the service says,
 * or `stt.too_large`.
 */
export type Transcribe = (
  recording: Recording,
  who: Pick<Subject, 'sessionId' | 'platform' | 'user'> & { readonly signal: AbortSignal },
) => Promise<string>

/** What {@link createTranscribe} needs of a home. */
interface TranscriptionOptions {
  readonly settings: HermesConfig['stt']
  readonly variables: ChatVariables
  readonly fetchTo: (address: string) => typeof fetch
  readonly policy: Policy
}

/** `null` where no service is configured, or it is switched off. */
export function createTranscribe({ settings, variables, fetchTo, policy }: TranscriptionOptions): Transcribe | null {
  const provider = settings.provider ?? (variables['VOICE_TOOLS_OPENAI_KEY'] ? 'openai' : null)
  if (provider === null || !settings.enabled) return null
  const { label, url: vendorUrl, keys } = SERVICES[provider]
  const { model, base_url: ownUrl } = settings[provider]
  const baseUrl = (ownUrl ?? vendorUrl).replace(/\/+$/, '')
  const url = `${baseUrl}/audio/transcriptions`
  return async ({ bytes, mediaType = 'audio/ogg' }, { signal, ...who }) => {
    if (bytes.length > MAX_BYTES)
      throw failed(`${label} takes recordings of up to ${MAX_BYTES / 1024 / 1024} MB.`, 'too_large')
    const key = keys.map((name) => variables[name]).find((value) => value)
    if (key === undefined && ownUrl === undefined)
      throw failed(`${label} needs a key: put ${keys.at(-1)} into .env.`, 'no_key')
    const action = { type: 'fetch', url, method: 'POST', chosen: 'looks' } as const
    const subject = { ...who, agentPath: ['root'], origin: 'operator', tainted: false } as const
    const decision = await policy.decide(action, subject, { mayAsk: false })
    if (decision.type !== 'allow')
      throw failed(decision.type === 'deny' ? decision.reason : decision.question.summary, 'denied')
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(bytes)], { type: mediaType }), `voice.${ENDINGS[mediaType] ?? 'ogg'}`)
    form.set('model', model)
    form.set('response_format', 'json')
    if (settings.language) form.set('language', settings.language)
    if (settings.prompt) form.set('prompt', settings.prompt)
    decision.permit.consume(action)
    try {
      const response = await fetchTo(baseUrl)(url, {
        method: 'POST',
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: form,
        signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
      })
      if (response.ok) return wordsIn(await textOf(response), label)
      await response.body?.cancel()
      const hint = response.status === 401 ? `; look at ${keys.join(' or ')} in .env` : ''
      throw failed(`${label} answered ${response.status}${hint}.`, 'failed')
    } catch (error) {
      if (signal.aborted || HermesError.isInstance(error)) throw error
      throw failed(
        `${label} ${isAbort(error) ? 'gave no answer in time' : `cannot be asked: ${causeOf(error)}`}.`,
        'failed',
      )
    }
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw failed('The answer of the service is too long.', 'failed')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function wordsIn(answer: string, label: string): string {
  try {
    const { text } = JSON.parse(answer) as { readonly text?: unknown }
    if (typeof text === 'string') return text.trim()
  } catch {
    // It is said below.
  }
  throw failed(`${label} answered without words.`, 'failed')
}

function causeOf(error: unknown): string {
  return errorLine(error instanceof Error && error.cause instanceof Error ? error.cause : error).replace(/\.$/, '')
}

function failed(message: string, code: string): HermesError {
  return new HermesError(message, { code: `stt.${code}` })
}
