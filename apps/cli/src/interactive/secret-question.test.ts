import { expect, it } from 'vitest'
import type { PickRequest } from '../editor/picker.js'
import type { Output } from '../io.js'
import { askQuestion } from './questions.js'

it('takes a password unseen and leaves none of it on the screen', async () => {
  const [requested, written]: [PickRequest[], string[]] = [[], []]
  const output = {
    write: (text: string) => void written.push(text),
    columns: () => 100,
    colors: false,
  } as never as Output
  const pick = async (request: PickRequest) => {
    requested.push(request)
    return { type: 'text', text: 'hunter2' } as const
  }
  const question = { question: 'Password?', choices: [], allowFreeText: true, isSecret: true }
  const answer = await askQuestion({ output, pick }, question, new AbortController().signal)
  expect(answer).toEqual({ type: 'answered', text: 'hunter2' })
  expect(requested).toMatchObject([{ isSecret: true, freeText: true }])
  expect(written.join('')).toContain('Password?')
  expect(written.join('')).not.toContain('hunter2')
})
