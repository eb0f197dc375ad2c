import type { RequestRepair } from '@hermes/contracts/model'
import type { AgentEvent } from './event.js'

const REPAIRED: Readonly<Record<RequestRepair, string>> = {
  'shrink-images': 'with smaller images',
  'drop-images': 'without the images',
  'drop-attachments': 'without the recordings and files',
  'drop-reasoning': 'without earlier thoughts',
  'simplify-schemas': 'with simpler tool definitions',
  'strip-unsupported': 'without optional settings',
}

/** What a person is told beside the answer, in a line. */
export interface NoticeText {
  readonly level: 'info' | 'warning'
  readonly text: string
}

/** What an event tells a person beside the answer: a failed model call and what is done about it, a compaction, a notice; else `null`. */
export function describeNotice(event: AgentEvent): NoticeText | null {
  switch (event.type) {
    case 'retry-wait':
      return { level: 'warning', text: `${event.message} ${describeRetry(event)}` }
    case 'compaction-start':
      return { level: 'info', text: 'Compacting the conversation …' }
    case 'notice':
      return { level: event.level, text: event.text }
    default:
      return null
  }
}

/** What is done about a failed model call; it follows the event's own message. */
function describeRetry({ remedy, delayMs, attempt }: AgentEvent & { readonly type: 'retry-wait' }): string {
  switch (remedy?.type) {
    case undefined:
      return `Trying again in ${duration(delayMs)} (attempt ${attempt}).`
    case 'rotate-credential':
      return 'Trying the next key.'
    case 'refresh-credential':
      return 'Trying again with the login renewed.'
    case 'repair':
      return `Trying again ${REPAIRED[remedy.repair]}.`
    case 'fallback':
      return `Until the end of this turn ${remedy.model} at ${remedy.provider} answers.`
    default:
      return remedy satisfies never
  }
}

function duration(ms: number): string {
  return ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.ceil(ms / 60_000)} min`
}
