// What who asks demands of the answer of one run. None of it is part of the prompt prefix: it rides on the message and on the request.
import { errorLine, HermesError, type JsonValue } from '@hermes/contracts'
import { type AssistantMessage, messageText, type TextPart, toolCalls } from '@hermes/contracts/conversation'
import type { AnswerFormat, ToolChoice } from '@hermes/contracts/model'
import type { ToolDefinition } from '@hermes/contracts/tool'
import { schemaProblem } from '@hermes/registry'
import { beforeBegunStop, cutAtStop } from './stop-sequences.js'

/** What the answer of one run has to be. */
export interface AnswerDemands {
  /** What its text is: told to the model, given to an endpoint that knows such a thing, and checked. */
  readonly format?: AnswerFormat
  /** Texts before the first of which each reply of the model ends, with what it calls after that. */
  readonly stop?: readonly string[]
  /** Names of tools of which the run has to call one before it answers: a single one, when the session shows it, at once. */
  readonly calls?: readonly string[]
}

/** How often the model is told what its answer lacks before the run fails. */
const MAX_TRIES = 2
const MAX_PROBLEM_CHARS = 1_000

/** @throws HermesError `agent.bad_format` for a schema that no answer can be checked against */
export async function checkDemands({ format }: AnswerDemands): Promise<void> {
  if (format?.type === 'json-schema') await problemOf(format, null)
}

async function problemOf(format: AnswerFormat & { readonly type: 'json-schema' }, value: JsonValue) {
  try {
    return await schemaProblem(format.schema, value)
  } catch (error) {
    throw new HermesError(`The schema ${format.name} of the answer cannot be used: ${errorLine(error)}`, {
      code: 'agent.bad_format',
    })
  }
}

/** What the model is told beside the message; `null` where nothing is to be said. */
export function demandText({ format }: AnswerDemands): TextPart | null {
  if (!format) return null
  const alone = 'and nothing else: no words around it, no code fence.'
  const text =
    format.type === 'json'
      ? `When you are done, answer with one JSON object ${alone}`
      : `When you are done, answer with JSON that fits the schema ${format.name}, ${alone}${
          format.description === undefined ? '' : ` ${format.description}`
        }\n${JSON.stringify(format.schema)}`
  return { type: 'text', text, origin: 'reminder' }
}

/** What a request says of tools: that one has to be called, as long as none was. */
export function demandedChoice(
  { calls = [] }: AnswerDemands,
  hasCalled: boolean,
  tools: readonly Pick<ToolDefinition, 'name'>[],
): ToolChoice | undefined {
  if (hasCalled || calls.length === 0) return undefined
  const shown = calls.filter((name) => tools.some((tool) => tool.name === name))
  // One that is found by a search alone cannot be named.
  return calls.length === 1 && shown.length === 1 ? { name: shown[0]! } : 'required'
}

/** Whether the rest of a reply is asked for. It ends before what may begin a stop, so that no stop stands in two replies. */
export function goesOn(message: AssistantMessage): boolean {
  return message.finishReason === 'length' && toolCalls(message).length === 0
}

/** A reply as it is kept: it ends at a stop, or before one that may have begun, and what it is to be stands alone. */
export function asDemanded(message: AssistantMessage, { stop = [], format }: AnswerDemands): AssistantMessage {
  const text = messageText(message)
  const ended = cutAtStop(text, stop)
  const isCut = ended !== text
  const cut = !isCut && goesOn(message) ? beforeBegunStop(ended, stop) : ended
  const calls = isCut ? [] : toolCalls(message)
  const kept = format && calls.length === 0 ? (jsonTextIn(cut) ?? cut) : cut
  if (kept === text) return message
  let isPlaced = false
  const content = message.content.flatMap((part): AssistantMessage['content'] => {
    if (part.type === 'tool-call' && isCut) return []
    if (part.type !== 'text' || part.origin !== undefined) return [part]
    if (isPlaced) return []
    isPlaced = true
    return kept === '' ? [] : [{ ...part, text: kept }]
  })
  return { ...message, content, ...(isCut ? { finishReason: 'stop' as const } : {}) }
}

/** An answer that may have come in several replies: the JSON alone where a format is demanded and it holds some. */
export function inDemandedForm(text: string, { format }: AnswerDemands): string {
  return format ? (jsonTextIn(text) ?? text) : text
}

/** What an answer lacks, in words for the model; `null` where it is as demanded. */
export async function lackOf(
  text: string,
  { format, calls = [] }: AnswerDemands,
  hasCalled: boolean,
): Promise<string | null> {
  if (calls.length > 0 && !hasCalled)
    return `Call ${calls.length === 1 ? calls[0] : `one of ${calls.join(', ')}`} first.`
  if (!format) return null
  const json = jsonTextIn(text)
  if (json === null) return 'It is not JSON.'
  const value = JSON.parse(json) as JsonValue
  if (format.type === 'json')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'It is JSON, but no object.'
  const problem = await problemOf(format, value)
  return problem === null ? null : `It does not fit the schema: ${problem.slice(0, MAX_PROBLEM_CHARS)}.`
}

/** The words that have it mended. @throws HermesError `agent.unfit_answer` when that was said often enough */
export function repairWords(lack: string, tries: number): string {
  if (tries < MAX_TRIES) return `Your last message cannot be used. ${lack} Mend that, and send nothing beside.`
  throw new HermesError(`The model gave no answer of the form that was asked for, ${tries + 1} times. ${lack}`, {
    code: 'agent.unfit_answer',
  })
}

/** The JSON that a text is, or that stands in its first fence; `null` for other texts. */
function jsonTextIn(text: string): string | null {
  const [, fenced] = /```(?:json)?[^\S\n]*\n([\s\S]*?)\n\s*```/.exec(text) ?? []
  return [text.trim(), fenced?.trim()].find((each) => each !== undefined && isJson(each)) ?? null
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
