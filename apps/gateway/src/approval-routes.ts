// What waits for an approval, and its answer, over HTTP. Answering is off unless config.yaml allows it: a key is given to programs, and programs pass on what others write.
import { isJsonObject } from '@hermes/contracts'
import { type Approval, type ApprovalChoice, approvalToJson, rootSessionOf } from '@hermes/contracts/policy'
import type { SessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { ApiError } from './api-error.js'

/** `always` writes a rule; that is done where the rules are. */
const CHOICES: readonly ApprovalChoice[] = ['once', 'session', 'deny']

/** Options of {@link ApprovalRoutes}. */
interface ApprovalRoutesOptions {
  readonly runtime: Pick<Runtime, 'storage' | 'policy'>
  readonly host: Pick<SessionHost, 'approvals'>
  /** Whether answers are taken. */
  readonly isOpen: boolean
}

/** Answers the requests about approvals. */
export class ApprovalRoutes {
  readonly #options: ApprovalRoutesOptions

  constructor(options: ApprovalRoutesOptions) {
    this.#options = options
  }

  /** What waits in sessions of this person; the owner, `null`, sees all. */
  async list(person: string | null): Promise<object> {
    return { object: 'list', data: (await this.#waiting(person)).map(approvalToJson) }
  }

  /** @throws ApiError 403 where answers are not taken, 404 for what does not wait, 409 where somebody was first, 400 for no answer */
  async answer({
    id,
    person,
    body,
  }: {
    readonly id: string
    readonly person: string | null
    readonly body: string
  }): Promise<object> {
    if (!this.#options.isOpen) {
      const message = `Answers over HTTP are off. Who runs this agent answers on its machine (hermes approvals answer ${id.slice(0, 8)} yes), or sets gateway.api_server.answer_approvals.`
      throw new ApiError(message, { status: 403, code: 'answers_off' })
    }
    const approval = (await this.#waiting(person)).find((one) => one.id === id)
    if (!approval) throw new ApiError(`Nothing waits under ${id}.`, { status: 404, code: 'approval_not_found' })
    const choice = choiceIn(body, approval)
    const isFirst = await this.#options.runtime.policy.answer(id, choice, person ?? 'the owner, over HTTP')
    if (!isFirst) throw new ApiError('It was answered in the meantime.', { status: 409, code: 'answered_already' })
    return { object: 'approval.answer', id, choice }
  }

  async #waiting(person: string | null): Promise<readonly Approval[]> {
    const waiting = (await this.#options.host.approvals()).filter(({ choice }) => choice === null)
    if (person === null) return waiting
    const { sessions } = await this.#options.runtime.storage()
    const owners = await Promise.all(waiting.map(({ question }) => sessions.get(rootSessionOf(question.subject))))
    return waiting.filter((_, index) => owners[index]?.person === person)
  }
}

function choiceIn(body: string, { question }: Approval): ApprovalChoice {
  let input: unknown = null
  try {
    input = JSON.parse(body)
  } catch {
    // Told below.
  }
  const allowed = CHOICES.filter((choice) => question.choices.includes(choice))
  const choice = allowed.find((one) => isJsonObject(input) && input['choice'] === one)
  if (choice !== undefined) return choice
  throw new ApiError(`Give the answer as JSON: {"choice": "${allowed.join('" or "')}"}.`, {
    code: 'invalid_choice',
    param: 'choice',
  })
}
