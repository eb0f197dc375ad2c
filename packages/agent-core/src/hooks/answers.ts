// What may be given back at each point. Extensions are other people's programs: what has another shape is an error of theirs, not ours.
import { isJsonObject, type JsonValue } from '@hermes/contracts'
import type { HookName } from '@hermes/contracts/extension'

/** Whether `answer`, which is something, may be given back at a point. */
export function isAnswer(name: HookName, answer: unknown): boolean {
  switch (name) {
    case 'session-start':
    case 'session-end':
    case 'approval-request':
    case 'approval-resolve':
    case 'child-started':
    case 'child-ended':
    case 'run-start':
    case 'after-model-call':
    case 'before-action':
    case 'run-end':
    case 'stream-start':
    case 'stream-delta':
    case 'stream-end':
    case 'model-error':
    case 'interim-message':
    case 'after-auxiliary-call':
    case 'skill-change':
      return true
    case 'before-command':
    case 'before-auxiliary-call':
      return isObject(answer) && answer['type'] === 'block' && isText(answer['reason'])
    case 'chat-message':
      return (
        isObject(answer) && (CHAT.includes(answer['type']) || (answer['type'] === 'rewrite' && isText(answer['text'])))
      )
    case 'input':
      return (
        isObject(answer) &&
        isOptional(answer['before'], areParts(INPUT)) &&
        isOptional(answer['after'], areParts(INPUT))
      )
    case 'before-model-call':
      return isEnding(answer)
    case 'model-request':
      return isSampling(answer)
    case 'model-execution':
      return isObject(answer) && isText(answer['text'])
    case 'tool-execution':
      return isResult(answer)
    case 'before-tool-call':
      return isVerdict(answer)
    case 'tool-result':
      return (
        isObject(answer) &&
        isOptional(answer['replace'], isResult) &&
        isOptional(answer['append'], areParts(TEXT)) &&
        isOptional(answer['end'], isEnding)
      )
    case 'answer':
      return isText(answer)
    case 'rest':
      return isObject(answer) && isText(answer['say']) && isOptional(answer['next'], isText)
    case 'compaction':
      return Array.isArray(answer)
        ? answer.every(isText)
        : isObject(answer) && answer['type'] === 'skip' && isText(answer['reason'])
    default:
      return name satisfies never
  }
}

const isResult = (answer: unknown) => isObject(answer) && areParts(RESULT)(answer['content'])

const CHAT: readonly unknown[] = ['drop', 'allow']
const EFFORTS: readonly unknown[] = ['minimal', 'low', 'medium', 'high']
const TIERS: readonly unknown[] = ['standard', 'fast', 'flex']

function isSampling(answer: unknown): boolean {
  if (!isObject(answer)) return false
  const { reasoningEffort, temperature, maxOutputTokens, serviceTier, ...others } = answer
  return (
    isOptional(reasoningEffort, (effort) => EFFORTS.includes(effort)) &&
    isOptional(temperature, (degree) => typeof degree === 'number' && degree >= 0 && degree <= 2) &&
    isOptional(maxOutputTokens, (most) => Number.isSafeInteger(most) && (most as number) > 0) &&
    isOptional(serviceTier, (tier) => TIERS.includes(tier)) &&
    Object.keys(others).length === 0
  )
}

function isVerdict(answer: unknown): boolean {
  if (!isObject(answer) || !isText(answer['reason'])) return false
  if (answer['type'] === 'rewrite') return isJsonObject(answer['args'] as JsonValue) && isJson(answer['args'])
  return answer['type'] === 'block' || answer['type'] === 'ask' || isEnding(answer)
}

function isEnding(answer: unknown): boolean {
  return isObject(answer) && answer['type'] === 'end-run' && isText(answer['code']) && isText(answer['message'])
}

const TEXT: readonly string[] = ['text']
const RESULT: readonly string[] = ['text', 'image']
const INPUT: readonly string[] = ['text', 'image', 'audio', 'file']
const ORIGINS: readonly unknown[] = [undefined, 'user', 'memory', 'steer', 'reminder', 'external']

/** Parts of these types. They go into the log, and to providers with every request from then on. */
const areParts = (types: readonly string[]) => (parts: unknown) =>
  Array.isArray(parts) &&
  parts.every(
    (part) =>
      isObject(part) &&
      types.includes(String(part['type'])) &&
      (part['type'] === 'text' ? isText(part['text']) : isText(part['data']) && isText(part['mediaType'])) &&
      ORIGINS.includes(part['origin']),
  )

/** Whether it can be written down, which what contains itself cannot. */
function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOptional = (value: unknown, is: (value: unknown) => boolean) => value === undefined || is(value)
