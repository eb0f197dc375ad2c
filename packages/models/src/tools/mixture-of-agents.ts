import { messageText, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { defineTool } from '@hermes/contracts/tool'
import { askModel } from '../ask.js'

const parameters = {
  type: 'object',
  properties: {
    question: {
      type: 'string',
      description:
        'The whole problem, with every fact and piece of text it needs: those who are asked see nothing else',
    },
  },
  required: ['question'],
} as const

/** What the tools of this package need. */
export interface ModelsToolServices {
  /** Makes the client of the default mixture for a session; `null` where config.yaml has none. */
  readonly mixture: ((sessionId: string) => Promise<ModelClient>) | null
}

/** Lets the model put one hard question to several models. */
export const createMixtureOfAgentsTool = ({ mixture }: ModelsToolServices) =>
  defineTool<{ readonly question: string }>({
    name: 'mixture_of_agents',
    toolset: 'moa',
    description:
      'Put one hard question to several models at once; one of them weighs what they say and answers. Slow and costly: for problems of reasoning, mathematics or design on which you are stuck or unsure, not for facts you can look up or work you can do.',
    parameters,
    available: () => mixture !== null,
    effect: 'read',
    concurrency: 'parallel',
    icon: '🧩',
    summarize: ({ question }) => `ask several models: ${question}`,
    async execute({ question }, { signal, sessionId }) {
      if (!mixture)
        return { isError: true, text: 'No mixture of models is set up here: moa.presets in config.yaml has none.' }
      const request = { messages: [userText(question)], tools: [] }
      const { message } = await askModel(await mixture(sessionId), request, { purpose: 'moa', sessionId, signal })
      return { text: messageText(message) }
    },
  })
