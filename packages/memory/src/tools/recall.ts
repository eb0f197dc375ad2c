import type { Recalled } from '@hermes/contracts/memory'
import { defineTool, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'

const parameters = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['search', 'store', 'forget'], default: 'search' },
    text: { type: 'string', description: 'What to look for, or to store' },
    id: { type: 'string', description: 'forget: as search gave it' },
  },
} as const

type Args = FromSchema<typeof parameters>

/** What the tool needs of a provider; all calls reject with one line. */
export interface RecallService {
  search(text: string, options: { readonly signal: AbortSignal }): Promise<readonly Recalled[]>
  /** @throws HermesError for what must not be remembered. */
  store(text: string, options: { readonly signal: AbortSignal }): Promise<void>
  forget(id: string, options: { readonly signal: AbortSignal }): Promise<boolean>
}

/** Lets the model ask the provider beside the two files; not offered where there is none. */
export const createRecallTool = ({ recall }: { readonly recall: RecallService | null }) =>
  defineTool<Args>({
    name: 'recall',
    toolset: 'memory',
    description:
      'Search the long-term memory beside the two small stores, when what was recalled by itself is not enough; store one fact that is too long or too special for them; forget one by its id.',
    parameters,
    available: () => recall !== null,
    effect: 'write',
    external: true,
    sources: () => [{ type: 'recall', name: 'the long-term memory' }],
    concurrency: 'exclusive',
    icon: '🧠',
    summarize: ({ action, text, id }) => `${action} ${text ?? id ?? ''}`.trim(),
    async execute({ action, text = '', id = '' }, { signal }) {
      if (!recall) return failure('There is no long-term memory here.')
      switch (action) {
        case 'search':
          return text.trim() === ''
            ? failure('Say in text what to look for.')
            : shown(await recall.search(text, { signal }))
        case 'store':
          if (text.trim() === '') return failure('Say in text what to store.')
          await recall.store(text, { signal })
          return 'Stored.'
        case 'forget':
          return (await recall.forget(id, { signal })) ? 'Forgotten.' : failure(`Nothing has the id "${id}".`)
        default:
          return action satisfies never
      }
    },
  })

function shown(found: readonly Recalled[]): ToolResult {
  if (found.length === 0) return 'Nothing is known about that.'
  return found.map(({ id, text }) => `- ${text.replace(/\s+/g, ' ')}${id === null ? '' : ` (id ${id})`}`).join('\n')
}

function failure(text: string): ToolResult {
  return { isError: true, text }
}
