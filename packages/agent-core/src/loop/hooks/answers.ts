// What may be given back at each point. Extensions are other people's programs: what has another shape is an error of theirs, not ours.
import { isJsonObject, type JsonValue } from '@hermes/contracts'
import type { HookName } from '@hermes/contracts/extension'

/** Whether `answer`, which is something, may be given back at a point. */
export function isAnswer(name: HookName, answer: unknown): boolean {
  switch (name) {
    case 'run-start':
    case 'after-model-call':
    case 'before-action':
    case 'run-end':
      return true
    case 'input':
      return isObject(answer) && isOptional(answer['before'], isParts) && isOptional(answer['after'], isParts)
    case 'before-model-call':
      return isEnding(answer)
    case 'before-tool-call':
      return isVerdict(answer)
    case 'tool-result':
      return (
        isObject(answer) &&
        isOptional(answer['replace'], (replace) => isObject(replace) && isParts(replace['content'])) &&
        isOptional(answer['append'], isParts) &&
        isOptional(answer['end'], isEnding)
      )
    case 'compaction':
      return Array.isArray(answer) && answer.every(isText)
    default:
      return name satisfies never
  }
}

function isVerdict(answer: unknown): boolean {
  if (!isObject(answer) || !isText(answer['reason'])) return false
  if (answer['type'] === 'rewrite') return isJsonObject(answer['args'] as JsonValue)
  return answer['type'] === 'block' || isEnding(answer)
}

function isEnding(answer: unknown): boolean {
  return isObject(answer) && answer['type'] === 'end-run' && isText(answer['code']) && isText(answer['message'])
}

function isParts(parts: unknown): boolean {
  return Array.isArray(parts) && parts.every((part) => isObject(part) && isText(part['type']))
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOptional = (value: unknown, is: (value: unknown) => boolean) => value === undefined || is(value)
