import type { KeptQuestion, QuestionStore } from '@hermes/contracts/tool'
import { expect, it } from 'vitest'

const question = (id: string, over: Partial<KeptQuestion> = {}): KeptQuestion => ({
  id,
  sessionId: 's',
  callId: 'call_1',
  question: { question: 'Which?', choices: ['red', 'blue'], allowFreeText: true },
  askedAtMs: 1_000,
  expiresAtMs: 9_000,
  status: 'open',
  answer: null,
  by: null,
  ...over,
})

/** Registers the case that every {@link QuestionStore} passes with vitest; `create` makes an empty one. */
export function testQuestionStore(options: {
  readonly create: () => Promise<{ readonly questions: QuestionStore; close?(): Promise<void> }>
}): void {
  it('QuestionStore keeps questions until they are used, and of two answers at once the first', async () => {
    const { questions, close } = await options.create()
    expect([await questions.get('a'), await questions.pending()]).toEqual([null, []])
    await questions.put(question('a'))
    await questions.put(question('a', { status: 'parked' }))
    await questions.put(question('b', { sessionId: 'other', askedAtMs: 2_000 }))
    expect(await questions.get('a')).toEqual(question('a', { status: 'parked' }))
    expect((await questions.pending()).map(({ id }) => id)).toEqual(['a', 'b'])
    const answered = (answer: string) => question('a', { status: 'answered', answer, by: answer })
    const kept = await Promise.all([questions.put(answered('red')), questions.put(answered('blue'))])
    expect(kept.filter(Boolean)).toHaveLength(1)
    await questions.put(question('a', { status: 'parked' }))
    expect(await questions.pending('s')).toEqual([answered(kept[0] ? 'red' : 'blue')])
    await questions.put(question('a', { status: 'used' }))
    expect([await questions.pending('s'), await questions.put(answered('late'))]).toEqual([[], false])
    await close?.()
  })
}
