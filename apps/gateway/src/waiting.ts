// What a client reads where a run waits for somebody, and how that is taken out again of the history that it sends back.
import { type AssistantMessage, messageText, type UserMessage } from '@hermes/contracts/conversation'

type PastMessage = UserMessage | AssistantMessage

/** A question of the policy that has no yes yet. */
export interface KeptApproval {
  readonly id: string
  /** `parked`: the run ended and waits for the answer. `denied`: it went on without; a yes counts for the next try. */
  readonly status: 'parked' | 'denied'
  /** What would be done, and why that is asked, on one line. */
  readonly summary: string
  readonly toolCallId: string
}

/** What the model asks; the next message of the session answers it. */
export interface KeptQuestionText {
  readonly id: string
  readonly question: string
  readonly choices: readonly string[]
  readonly toolCallId: string
  /** As it is said to the person, with the choices by number. */
  readonly text: string
}

const SIGN = '⏸'
const SHOWN_ID_CHARS = 8
/** The end of an answer, from the sign to the id of what it waits for. */
const WAITING = /\s*⏸[^⏸]*\[(?:waits for|question) [0-9a-f-]{8}\]\s*$/u
const QUESTION = /\[question [0-9a-f-]{8}\]\s*$/u

/** The last words of a run that parked, in place of the model's. Whoever may use the API need not be who owns the machine, so it names who answers. */
export function waitingText(parked: readonly KeptApproval[]): string {
  return parked
    .map(({ id, summary }) => {
      const shown = id.slice(0, SHOWN_ID_CHARS)
      const what = `${SIGN} This waits for an approval: ${summary.replaceAll(SIGN, ' ')}.`
      const how = `Who runs this agent answers on its machine: hermes approvals answer ${shown} yes (or no).`
      return `${what}\n${how} After that, send the same again or anything else to go on. [waits for ${shown}]`
    })
    .join('\n\n')
}

/** The last words of a run that waits for the next message. */
export function questionText({ id, text }: KeptQuestionText): string {
  return `${SIGN} ${text.replaceAll(SIGN, ' ')} [question ${id.slice(0, SHOWN_ID_CHARS)}]`
}

/**
 * The history without such words: the log of the session has none of them. Without the messages that answered questions too, unless
 * `keepsAnswers`: those are results of tools in the log.
 */
export function withoutWaiting(history: readonly PastMessage[], keepsAnswers: boolean): readonly PastMessage[] {
  return history.flatMap((message, index): readonly PastMessage[] => {
    if (message.role !== 'assistant') return !keepsAnswers && asksQuestion(history[index - 1]) ? [] : [message]
    const content = message.content.map((part) =>
      part.type === 'text' ? { ...part, text: withoutWords(part.text) } : part,
    )
    return content.some((part) => part.type !== 'text' || part.text !== '') ? [{ ...message, content }] : []
  })
}

function asksQuestion(message: PastMessage | undefined): boolean {
  return message?.role === 'assistant' && QUESTION.test(messageText(message))
}

function withoutWords(text: string): string {
  const rest = text.replace(WAITING, '')
  return rest === text ? text : withoutWords(rest)
}
