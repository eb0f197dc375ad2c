import type { Environment } from '@hermes/contracts/environment'
import { describe, expect, it } from 'vitest'
import { call, createToolContext } from './__fixtures__/test-context.js'
import { createClarifyTool } from './index.js'

const tool = createClarifyTool()
const environment = {} as Environment

describe('clarify', () => {
  it('asks with choices and gives the answer', async () => {
    const context = createToolContext({ environment, answer: { type: 'answered', text: 'blue' } })
    const result = await call(tool, { question: ' Colour? ', choices: ['red', 'blue', ' red'] }, context)
    expect(context.questions).toEqual([{ question: 'Colour?', choices: ['red', 'blue'], allowFreeText: true }])
    expect(result.text).toBe('The user answered: blue')
    expect(result.data).toEqual({ question: 'Colour?', choices: ['red', 'blue'], answer: 'blue' })
  })

  it('has the model decide when nobody answers', async () => {
    const context = createToolContext({ environment })
    const result = await call(tool, { question: 'Colour?' }, context)
    expect(result.isError).toBe(false)
    expect(result.text).toMatch(/^No answer \(nobody is there\)\. .*most sensible default/)
    expect(result.data['answer']).toBeNull()
  })

  it('refuses questions that cannot be answered', async () => {
    const context = createToolContext({ environment })
    expect((await call(tool, { question: ' ' }, context)).isError).toBe(true)
    expect((await call(tool, { question: 'Why?', allow_free_text: false }, context)).isError).toBe(true)
    const seven = await call(tool, { question: 'Which?', choices: [...'abcdefg'] }, context)
    expect(seven.text).toContain('choices')
    expect(context.questions).toEqual([])
  })
})
