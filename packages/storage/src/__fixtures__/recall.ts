import type { NewEntry } from '@hermes/contracts/conversation'
import type { Storage } from '../storage.js'
import { longConversations, type Question } from './long-conversations.js'

const FIRST = 5

/** Which part of the questions has the right session among the first five, as typed and by their words alone; from 0 to 1. */
export async function measureRecall(
  store: Storage,
  /** `every`: of so many questions one is asked. Default 1. */
  { every = 1, ...size }: { readonly pairs: number; readonly days: number; readonly every?: number },
): Promise<{ readonly questions: number; readonly typed: number; readonly words: number }> {
  const { conversations, ...made } = longConversations(size)
  const questions = made.questions.filter((_, at) => at % every === 0)
  for (const { id, startedAtMs, utterances } of conversations) {
    await store.sessions.create({ id, source: 'cli', startedAtMs })
    const lease = await store.leases.acquire(id, { owner: 'me' })
    const entries = utterances.map(({ isFirst, text }): NewEntry => {
      const content = [{ type: 'text', text }] as const
      return { type: 'message', message: isFirst ? { role: 'user', content } : { role: 'assistant', content } }
    })
    await store.log.append(id, entries, { lease, atMs: startedAtMs })
    await lease.release()
  }
  const share = async (text: (question: Question) => string) => {
    let found = 0
    for (const question of questions) {
      // As `session_search` asks.
      const hits = await store.search.find(text(question), { order: 'relevance', limit: FIRST * 8, role: ['user', 'assistant'] })
      const sessions = [...new Set(hits.map(({ sessionId }) => sessionId))]
      if (sessions.slice(0, FIRST).includes(question.sessionId)) found++
    }
    return found / questions.length
  }
  return { questions: questions.length, typed: await share(({ typed }) => typed), words: await share(({ words }) => words) }
}
