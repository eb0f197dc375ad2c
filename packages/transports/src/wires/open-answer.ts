import { HermesError } from '@hermes/contracts'
import { refusesStreaming } from '../classify-error.js'
import { shownAddress } from '../shown-address.js'
import { addressHint, type CallTarget } from '../transport-error.js'

/** What has to be known of a response of success. */
export type Answered = Pick<Response, 'headers' | 'text'>

/** One request on its way. */
interface Opening<Answer extends Answered> {
  readonly target: CallTarget
  readonly send: (streaming: boolean) => Promise<Answer>
  /** Takes the text of an answer that came in one piece. Throws when it is none. */
  readonly takeWhole: (text: string) => void
  /** Told the headers of a response of success. */
  readonly onHeaders?: ((headers: Readonly<Record<string, string>>) => void) | undefined
}

/**
 * Makes the function that sends the requests to one endpoint and gives the response to be read as a stream, or `null` when the answer
 * came in one piece. A server that cannot stream is asked once without, and so from then on.
 */
export function createOpener<Answer extends Answered = Response>(): (
  opening: Opening<Answer>,
) => Promise<Answer | null> {
  let streams = true
  return async ({ target, send, takeWhole, onHeaders }) => {
    const response = await send(streams).catch((error: unknown) => {
      if (!streams || !refusesStreaming(error)) throw error
      streams = false
      return send(false)
    })
    onHeaders?.(Object.fromEntries(response.headers))
    const mediaType = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (mediaType === 'text/html') throw webPage(target)
    const isJson = mediaType.endsWith('json') && !mediaType.includes('ndjson')
    if (streams && !isJson) return response
    takeWhole(await response.text())
    streams = false
    return null
  }
}

function webPage(target: CallTarget): HermesError {
  return new HermesError(
    `${shownAddress(target.baseUrl)} answered with a web page, not with a model's answer; check the base URL, ${addressHint(target)}.`,
    { code: 'transport.wrong_address', details: { provider: target.provider } },
  )
}
