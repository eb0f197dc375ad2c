import { type ApprovalStore, approvalToJson, parseApproval, rootSessionOf } from '@hermes/contracts/policy'
import type { KeptQuestion, QuestionStore } from '@hermes/contracts/tool'
import type { Database } from '../shared/database.js'
import { KeptRows } from './kept-rows.js'

/** What the policy asks people. */
export function storedApprovals(database: Database): ApprovalStore {
  return new KeptRows({
    database,
    table: 'hermes_approvals',
    sessionOf: ({ question }) => rootSessionOf(question.subject),
    toText: (approval) => JSON.stringify(approvalToJson(approval)),
    parse: parseApproval,
  })
}

/** What tools ask people. */
export function storedQuestions(database: Database): QuestionStore {
  return new KeptRows({
    database,
    table: 'hermes_questions',
    sessionOf: ({ sessionId }) => sessionId,
    toText: (question) => JSON.stringify(question),
    parse: (text) => JSON.parse(text) as KeptQuestion,
  })
}
