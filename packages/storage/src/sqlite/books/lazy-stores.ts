import type { Clock } from '@hermes/contracts'
import type { Storage } from '../../storage.js'
import type { Connection } from '../file/connection.js'

/** Books that few programs open: each is loaded by the first who asks for something of it. */
export function lazyStores(
  connection: Connection,
  options: { readonly clock: Clock; readonly process: string },
): Pick<Storage, 'learnings' | 'jobs' | 'summaries'> {
  const learnings = once(async () => new (await import('./learning-store.js')).LearningStore(connection, options))
  const jobs = once(async () => new (await import('./job-queue.js')).JobQueue(connection, options))
  const summaries = once(async () => new (await import('./summary-store.js')).SummaryStore(connection, options))
  return {
    learnings: {
      save: async (learning) => (await learnings()).save(learning),
      find: async (filter) => (await learnings()).find(filter),
      match: async (error) => (await learnings()).match(error),
    },
    jobs: {
      add: async (job) => (await jobs()).add(job),
      take: async (wanted) => (await jobs()).take(wanted),
      renew: async (job, lease) => (await jobs()).renew(job, lease),
      complete: async (job) => (await jobs()).complete(job),
      fail: async (job, failure) => (await jobs()).fail(job, failure),
      cancel: async (id) => (await jobs()).cancel(id),
      list: async (filter) => (await jobs()).list(filter),
    },
    summaries: {
      save: async (summary) => (await summaries()).save(summary),
      get: async (sessionId) => (await summaries()).get(sessionId),
      search: async (text, filter) => (await summaries()).search(text, filter),
    },
  }
}

function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined
  return () => (made ??= make())
}
