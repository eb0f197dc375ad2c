import { HermesError, isJsonObject, type JsonValue } from '@hermes/contracts'

/** One request and its answer as a recording keeps them: one line of JSON, placeholders in place of what varies. */
export interface Exchange {
  readonly request: { readonly method: string; readonly path: string; readonly body: JsonValue }
  readonly response: {
    readonly status: number
    /** `content-type` and `retry-after` only. */
    readonly headers: Readonly<Record<string, string>>
    /** The body in pieces: one per server-sent event. */
    readonly chunks: readonly string[]
  }
}

const FORMAT = 'hermes-recording'
const VERSION = 1

/** The first line of each recording. */
export const RECORDING_HEADER = JSON.stringify({ format: FORMAT, version: VERSION })

/**
 * Reads a recording.
 * @throws HermesError `transport.bad_recording` naming file and line.
 */
export function parseRecording(text: string, file: string): Exchange[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const values = lines.map((line, index) => {
    try {
      return JSON.parse(line) as unknown
    } catch {
      throw badRecording(file, index + 1, 'is not JSON')
    }
  })
  const [header, ...exchanges] = values
  if (!isJsonObject(header) || header['format'] !== FORMAT)
    throw badRecording(file, 1, `does not say "format":"${FORMAT}"`)
  if (header['version'] !== VERSION)
    throw badRecording(file, 1, `has version ${header['version']}; this is for version ${VERSION}`)
  exchanges.forEach((value, index) => {
    if (!isExchange(value)) throw badRecording(file, index + 2, 'is not an exchange of request and response')
  })
  return exchanges as Exchange[]
}

function isExchange(value: unknown): value is Exchange {
  if (!isJsonObject(value)) return false
  const { request, response } = value
  return (
    isJsonObject(request) &&
    typeof request['path'] === 'string' &&
    isJsonObject(response) &&
    typeof response['status'] === 'number' &&
    isJsonObject(response['headers']) &&
    Array.isArray(response['chunks'])
  )
}

function badRecording(file: string, line: number, problem: string): HermesError {
  return new HermesError(`${file}: line ${line} ${problem}; record it again.`, {
    code: 'transport.bad_recording',
    details: { file, line },
  })
}
