import { errorLine, isJsonObject, isNestedTooDeep, type JsonObject } from '@hermes/contracts'
import type { JsonSchema } from '@hermes/contracts/tool'
import { toolParameters } from '@hermes/registry'

/** An answer that has to be data. */
type StructuredAnswer =
  | { readonly type: 'fits'; readonly output: JsonObject }
  /** One line that says what to correct. */
  | { readonly type: 'unfit'; readonly problem: string }

/** Reads an answer as JSON, a fence around it or not, and checks it against `schema`. */
export async function readStructured(answer: string, schema: JsonSchema): Promise<StructuredAnswer> {
  const text = fenced(answer) ?? answer
  if (isNestedTooDeep(text)) return { type: 'unfit', problem: 'It is nested more than 200 deep.' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { type: 'unfit', problem: `It is not JSON: ${errorLine(error)}.` }
  }
  if (!isJsonObject(value)) return { type: 'unfit', problem: 'It is JSON, but not an object.' }
  try {
    const checked = await toolParameters(schema).check(value)
    return checked.type === 'valid'
      ? { type: 'fits', output: checked.args as JsonObject }
      : { type: 'unfit', problem: `It does not fit the schema: ${checked.message}.` }
  } catch (error) {
    return { type: 'unfit', problem: `The schema itself cannot be used: ${errorLine(error)}.` }
  }
}

/** What stands in the first fence, which has to end. */
function fenced(answer: string): string | null {
  const opening = /```(?:json)?[^\S\n]*\n/.exec(answer)
  if (opening === null) return null
  const start = opening.index + opening[0].length
  const end = answer.indexOf('\n```', start)
  return end === -1 ? null : answer.slice(start, end)
}

/** What a child is told when its answer did not fit. It is told once. */
export function repairRequest(problem: string): string {
  return `Your last message cannot be used. ${problem} Send the JSON object again, mended, and nothing else.`
}
