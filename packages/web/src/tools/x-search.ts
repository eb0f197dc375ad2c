import { defineTool, type ToolResult } from '@hermes/contracts/tool'
import type { XAnswer, XQuery } from '../x-search/x-search.js'
import type { WebToolServices } from './web-search.js'

const MOST_CITATIONS = 50

const handles = { type: 'array', items: { type: 'string' }, maxItems: 10 } as const

const parameters = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    allowed_x_handles: { ...handles, description: 'Posts of these accounts alone' },
    excluded_x_handles: { ...handles, description: 'No posts of these; not together with the other list' },
    from_date: { type: 'string', description: 'YYYY-MM-DD' },
    to_date: { type: 'string', description: 'YYYY-MM-DD' },
    enable_image_understanding: { type: 'boolean', description: 'Look at pictures in posts' },
    enable_video_understanding: { type: 'boolean', description: 'Look at videos in posts' },
  },
  required: ['query'],
} as const

/** Looks through posts on X. */
export const createXSearchTool = ({ web }: WebToolServices) =>
  defineTool<XQuery>({
    name: 'x_search',
    toolset: 'x_search',
    description:
      'Search posts, people and threads on X (Twitter). A model of xAI searches and answers, with links to the posts. For other pages use web_search.',
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    external: true,
    sources: ({ query }) => [{ type: 'web', name: `the search on X for ${query}` }],
    icon: '🐦',
    available: async () => web.x.isConfigured() && (await web.mayFetch()),
    summarize: ({ query }) => `search X for ${query}`,
    async execute(args, { signal, permit }) {
      const query = args.query.replace(/\s+/g, ' ').trim()
      if (query === '') return { text: 'query is blank. Say what to look for.', isError: true }
      return result(await web.x.search({ ...args, query }, { signal, permit }))
    },
  })

function result({ text, citations }: XAnswer): ToolResult {
  const shown = citations.slice(0, MOST_CITATIONS)
  const lines = shown.map(({ url, title }, index) => `${index + 1}. ${title === '' ? '' : `${title}: `}${url}`)
  const isProven = citations.some(({ isNamed }) => isNamed)
  const sources =
    lines.length === 0 ? [] : ['', isProven ? 'Sources:' : 'Looked at, though not named in the answer:', ...lines]
  const doubt = isProven ? [] : ['', '(The answer names no post. Take it for a claim, and say so.)']
  return {
    data: {
      answer: text,
      citations: shown.map(({ url, title, isNamed }) => ({ url, title, named: isNamed })),
      served_by: 'xai',
    },
    text: [text, ...sources, ...doubt].join('\n'),
  }
}
