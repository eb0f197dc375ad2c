import type { FaultStep, ModelStep } from './model-server/step.js'

/** With what a client meets a fault. */
export const FAULT_SETUPS = ['one key', 'three keys', 'a fallback'] as const

/** One of {@link FAULT_SETUPS}. */
export type FaultSetup = (typeof FAULT_SETUPS)[number]

/** A fault of an endpoint and what survives it. */
export interface ModelFault {
  readonly step: ModelStep
  /** Where one occurrence is survived. */
  readonly once: readonly FaultSetup[]
  /** Where it is survived although it never ends. */
  readonly always: readonly FaultSetup[]
}

/** What has been said of an answer when it breaks off. */
export const HALF_TEXT = 'half'

const status = (code: number, message: string, more: Partial<FaultStep & { fault: 'status' }> = {}): ModelStep => {
  const body = { type: 'error', error: { type: 'scripted', message } }
  return { fault: 'status', status: code, body, ...more }
}
const passing = (step: ModelStep): ModelFault => ({ step, once: FAULT_SETUPS, always: ['a fallback'] })
const ofKey = (step: ModelStep): ModelFault => ({ step, once: ['three keys', 'a fallback'], always: ['a fallback'] })
const ofModel = (step: ModelStep): ModelFault => ({ step, once: ['a fallback'], always: ['a fallback'] })
const final = (step: ModelStep): ModelFault => ({ step, once: [], always: [] })

/** Every fault an endpoint can have, for a request with an image, an earlier thought, a temperature and a tool with a pattern. */
export const MODEL_FAULTS: Readonly<Record<string, ModelFault>> = {
  '429 with a reset': passing({ fault: 'status', status: 429, retryAfterSeconds: 7 }),
  '429 without a reset': passing({ fault: 'status', status: 429 }),
  401: ofKey(status(401, 'Invalid API key.')),
  '402 for good': ofKey(status(402, 'Insufficient credits.')),
  '402 for a while': passing(status(402, 'Usage limit reached, try again in 5 minutes.', { retryAfterSeconds: 5 })),
  403: ofKey(status(403, 'This key may not use this model.')),
  404: ofModel(status(404, 'The model does not exist.')),
  413: final(status(413, 'Request too large.')),
  500: passing({ fault: 'status', status: 500 }),
  502: passing({ fault: 'html', status: 502 }),
  503: passing({ fault: 'status', status: 503 }),
  529: passing({ fault: 'status', status: 529 }),
  'a reset before the first byte': passing({ fault: 'refuse' }),
  'a reset in the answer': passing({ fault: 'cut', text: HALF_TEXT, afterChunks: 1 }),
  'a reset after the first token': passing({ fault: 'cut', text: HALF_TEXT, afterChunks: 2 }),
  'an end in the middle': passing({ fault: 'cut', text: HALF_TEXT, how: 'end' }),
  'a stall': passing({ fault: 'stall', text: HALF_TEXT, afterChunks: 2 }),
  'truncated JSON': passing({ fault: 'malformed', text: HALF_TEXT, afterChunks: 2 }),
  'an overload in the answer': passing({
    fault: 'error-event',
    type: 'overloaded_error',
    message: 'Overloaded',
    text: HALF_TEXT,
  }),
  'a wrong content type': ofModel({ fault: 'html' }),
  'a tier for long contexts': final(status(429, 'Extra usage is required for long context requests.')),
  // Where a smaller image did not help nothing is left, and another model gets the same one.
  'an image too large': { ...passing(status(400, 'image exceeds 5 MB maximum')), always: [] },
  'a thinking signature': passing(status(400, 'messages.1: Invalid `signature` in `thinking` block')),
  'a grammar that is too hard': passing(status(400, 'failed to parse grammar')),
  'an unsupported parameter': passing(status(400, 'Unsupported parameter: temperature')),
  'a policy block': ofModel(status(403, 'Your request was flagged by our content policy.')),
  'a data policy': final(status(404, 'No endpoints found matching your data policy.')),
}
