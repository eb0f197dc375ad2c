import { type Answer, defineTool, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { failure } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'

const parameters = {
  type: 'object',
  properties: {
    question: { type: 'string' },
    choices: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 6,
      default: [],
      description: 'Best first',
    },
    allow_free_text: { type: 'boolean', default: true },
  },
  required: ['question'],
} as const

/** Asks the person behind the session. */
export const createClarifyTool = (_settings: ToolSettings = defaultToolSettings) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'clarify',
    toolset: 'clarify',
    description:
      'Ask the user one question: only when the answer changes what you do and you cannot find it out; never to confirm commands.',
    parameters,
    effect: 'read',
    concurrency: 'interactive',
    icon: '❓',
    summarize: ({ question }) => question,
    async execute(args, context) {
      const question = args.question.trim()
      const choices = [...new Set(args.choices.map((choice) => choice.trim()).filter((choice) => choice !== ''))]
      if (question === '') return failure('question is blank. Say what you want to know.')
      if (choices.length === 0 && !args.allow_free_text)
        return failure('Without choices no answer is possible. Give choices or allow free text.')
      return report(question, choices, await context.ask({ question, choices, allowFreeText: args.allow_free_text }))
    },
  })

function report(question: string, choices: readonly string[], answer: Answer): ToolResult {
  switch (answer.type) {
    case 'answered':
      return { text: `The user answered: ${answer.text}`, data: { question, choices, answer: answer.text } }
    case 'unanswered':
      return {
        text: `No answer (${answer.reason}). Do not ask again: decide yourself, take the most sensible default, and say in your reply what you assumed.`,
        data: { question, choices, answer: null, reason: answer.reason },
      }
    default:
      return answer satisfies never
  }
}
