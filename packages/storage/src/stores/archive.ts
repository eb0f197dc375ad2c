import { MARKS } from '../marks.js'
import { type Database, run } from '../shared/database.js'
import type { ArchiveOptions } from '../storage.js'
import { activity } from './activity.js'

/** Marks quiet sessions as archived, all in one step; tells how many. `nowMs` is of the clock that sessions are dated by. */
export function archiveSessions(
  database: Database,
  { olderThanMs, nowMs }: ArchiveOptions & { readonly nowMs: number },
): Promise<number> {
  const { builder, sql } = database
  const marked = builder.selectFrom('hermes_tags').select('session_id').where('tag', 'in', Object.values(MARKS))
  const quiet = builder
    .selectFrom(activity(database))
    .select([sql.lit(MARKS.archived).as('tag'), 'active.id as session_id'])
    .where('last_active_ms', '<=', nowMs - olderThanMs)
    .where('active.id', 'not in', marked)
  return database.write('archive', () =>
    run(builder.insertInto('hermes_tags').columns(['tag', 'session_id']).expression(quiet)),
  )
}
