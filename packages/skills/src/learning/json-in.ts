import { isJsonObject, type JsonObject } from '@hermes/contracts'

/** The object in what a model answered, whatever stands around it; `null` where there is none. Never throws. */
export function jsonIn(answer: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))
    return isJsonObject(parsed) ? parsed : null
  } catch {
    return null
  }
}
