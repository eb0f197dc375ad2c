import {
  type Approval,
  type ApprovalStore,
  approvalToJson,
  parseApproval,
  rootSessionOf,
} from '@hermes/contracts/policy'
import { sql } from 'kysely'
import { all, type Database, run } from '../shared/database.js'

/**
 * Questions to a person: another process may answer them, and they outlive the one that asked. Rows go when their answer was used, or with
 * the first question after they expired.
 */
export class StoredApprovals implements ApprovalStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  put(approval: Approval): Promise<boolean> {
    const database = this.#database
    const { id, status, askedAtMs, expiresAtMs, question } = approval
    const columns = {
      session_id: rootSessionOf(question.subject),
      status,
      asked_at_ms: askedAtMs,
      expires_at_ms: expiresAtMs,
      approval: JSON.stringify(approvalToJson(approval)),
    }
    return database.write(`approval ${id}`, function* () {
      yield* database.make('hermes_approvals')
      const remove = database.builder.deleteFrom('hermes_approvals')
      if (status === 'used') return (yield* run(remove.where('id', '=', id))) > 0
      if (status === 'answered') {
        const update = database.builder.updateTable('hermes_approvals').set(columns)
        return (yield* run(update.where('id', '=', id).where('status', '<>', 'answered'))) > 0
      }
      if (status === 'open') yield* run(remove.where('expires_at_ms', '<=', askedAtMs))
      const insert = database.builder.insertInto('hermes_approvals').values({ id, ...columns })
      const kept = yield* run(
        insert.onConflict((conflict) =>
          conflict.column('id').doUpdateSet(columns).where('hermes_approvals.status', '<>', 'answered'),
        ),
      )
      return kept > 0
    })
  }

  async get(id: string): Promise<Approval | null> {
    return (await this.#found(questions(this.#database).where('id', '=', id)))[0] ?? null
  }

  pending(sessionId?: string): Promise<readonly Approval[]> {
    const arrival = this.#database.dialect === 'sqlite' ? sql.ref('rowid') : sql.ref('number')
    const rows = questions(this.#database).orderBy('asked_at_ms').orderBy(arrival)
    return this.#found(sessionId === undefined ? rows : rows.where('session_id', '=', sessionId))
  }

  #found(query: ReturnType<typeof questions>): Promise<readonly Approval[]> {
    const database = this.#database
    return database.read(function* () {
      if (!(yield* database.has('hermes_approvals'))) return []
      return (yield* all(query)).map((row) => parseApproval(row.approval))
    })
  }
}

function questions({ builder }: Database) {
  return builder.selectFrom('hermes_approvals').select('approval')
}
