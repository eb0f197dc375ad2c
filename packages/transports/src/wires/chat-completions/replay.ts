import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { AssistantMessage, EndpointStamp } from '@hermes/contracts/conversation'
import { sameStamp } from '../grouped-conversation.js'

/** What an endpoint of this wire wants back with a later request, beside the text of its thoughts. */
export interface Replay {
  /** Blocks of reasoning as they came. */
  readonly details: readonly JsonObject[]
  /** What was attached to calls, by call id. */
  readonly callExtras: Readonly<Record<string, JsonValue>>
}

/** The form in which a message keeps it; `null` when there is nothing to keep. */
export function toReplayData({ details, callExtras }: Replay): JsonValue {
  if (details.length === 0 && Object.keys(callExtras).length === 0) return null
  return {
    ...(details.length === 0 ? {} : { details: [...details] }),
    ...(Object.keys(callExtras).length === 0 ? {} : { callExtras }),
  }
}

/** What a message keeps for this endpoint, with the text of its thoughts. */
export function replayOf(message: AssistantMessage, stamp: EndpointStamp): Replay & { readonly text: string } {
  let text = ''
  const details: JsonObject[] = []
  const callExtras: Record<string, JsonValue> = {}
  for (const part of message.content) {
    if (part.type !== 'reasoning' || !part.replay || !sameStamp(part.replay.stamp, stamp)) continue
    text += part.text
    const { data } = part.replay
    if (!isJsonObject(data)) continue
    if (Array.isArray(data['details'])) details.push(...data['details'].filter(isJsonObject))
    if (isJsonObject(data['callExtras'])) Object.assign(callExtras, data['callExtras'])
  }
  return { text, details, callExtras }
}

/** Fields whose pieces are joined; of others the last one counts. */
const STREAMED = ['text', 'summary', 'data']

/** Takes in a piece of a block: it goes on with the last one of the same kind and place, or begins another. */
export function pushDetail(details: JsonObject[], piece: JsonObject): void {
  const last = details.at(-1)
  const goesOn = last && last['type'] === piece['type'] && last['index'] === piece['index'] && !isOtherId(last, piece)
  if (!goesOn) {
    details.push(piece)
    return
  }
  const merged: Record<string, JsonValue> = { ...last }
  for (const [key, value] of Object.entries(piece)) {
    const known = merged[key]
    if (STREAMED.includes(key) && typeof known === 'string' && typeof value === 'string') merged[key] = known + value
    else if (value !== null) merged[key] = value
  }
  details[details.length - 1] = merged
}

function isOtherId(last: JsonObject, piece: JsonObject): boolean {
  return typeof last['id'] === 'string' && typeof piece['id'] === 'string' && last['id'] !== piece['id']
}
