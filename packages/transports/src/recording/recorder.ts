import { errorLine, HermesError } from '@hermes/contracts'
import { isBinaryEvents, readBinaryEvents } from './binary-events.js'
import { mapChunk, mapStrings, readBody } from './json-strings.js'
import { mergeEvents } from './merge-events.js'
import { inAnswers, normalise, type Placeholder } from './placeholders.js'
import { type Exchange, RECORDING_HEADER } from './recording-format.js'

/** What to record and where. */
interface RecorderOptions {
  /** Replaced when it exists. */
  readonly file: string
  /** Who does the real work. Default: the global one. */
  readonly fetch?: typeof fetch
  /** What varies between machines and runs. Default none. */
  readonly placeholders?: readonly Placeholder[]
}

/** A `fetch` that writes down what passes through it. */
interface Recorder {
  /** Give it to a transport. Answers pass unchanged, as they come. */
  readonly fetch: typeof fetch
  /** Resolves when every exchange is on disk. @throws HermesError `transport.recording_failed` when one could not be written. */
  close(): Promise<void>
}

const KEPT_HEADERS = ['content-type', 'retry-after']

/**
 * Records exchanges as lines of JSON, in the order in which requests were made. Request headers, and so keys, are never written. An
 * exchange that was aborted or broke off is left out.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const { file, placeholders = [] } = options
  const files = import('node:fs/promises')
  let written: Promise<unknown> = files.then((fs) => fs.writeFile(file, `${RECORDING_HEADER}\n`)).catch(failed(file))
  written.catch(() => undefined)
  const keep = (exchange: Promise<Exchange | null>) => {
    written = Promise.all([files, exchange, written]).then(([fs, done]) =>
      done ? fs.appendFile(file, `${JSON.stringify(done)}\n`).catch(failed(file)) : undefined,
    )
    // Reported by close(); until then nobody waits for it.
    written.catch(() => undefined)
  }
  const recording: typeof fetch = async (input, init) => {
    const request = describeRequest(input instanceof Request ? input.clone() : new Request(input, init), placeholders)
    const answered = (options.fetch ?? fetch)(input, init).then((response) => ({ response, copy: response.clone() }))
    keep(describeExchange(request, answered, placeholders).catch(() => null))
    return (await answered).response
  }
  return { fetch: recording, close: () => written.then(() => undefined) }
}

async function describeExchange(
  request: Promise<Exchange['request']>,
  answered: Promise<{ readonly copy: Response }>,
  placeholders: readonly Placeholder[],
): Promise<Exchange> {
  const [described, { copy }] = await Promise.all([request, answered])
  const mediaType = copy.headers.get('content-type') ?? undefined
  const text = isBinaryEvents(mediaType)
    ? readBinaryEvents(new Uint8Array(await copy.arrayBuffer()))
    : await copy.text()
  const headers: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const value = copy.headers.get(name)
    if (value !== null) headers[name] = value
  }
  const literal = inAnswers(placeholders)
  const isEvents = mediaType?.startsWith('text/event-stream') || isBinaryEvents(mediaType)
  const chunks = isEvents ? mergeEvents(text) : [text]
  const hide = (chunk: string) => mapChunk(chunk, (inner) => normalise(inner, literal))
  return { request: described, response: { status: copy.status, headers, chunks: chunks.map(hide) } }
}

async function describeRequest(request: Request, placeholders: readonly Placeholder[]): Promise<Exchange['request']> {
  const text = await request.text()
  const body = mapStrings(readBody(text), (inner) => normalise(inner, placeholders))
  return { method: request.method, path: new URL(request.url).pathname, body }
}

function failed(file: string): (cause: unknown) => never {
  return (cause) => {
    throw new HermesError(`The recording could not be written to ${file}: ${errorLine(cause)}.`, {
      code: 'transport.recording_failed',
      details: { file },
      cause,
    })
  }
}
