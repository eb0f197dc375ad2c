import { HermesError } from '@hermes/contracts'
import { defineTool } from '@hermes/contracts/tool'

/** Counts the words of a text file. */
export const createCountWordsTool = () =>
  defineTool<{ path: string }>({
    name: 'count_words',
    toolset: 'file',
    description: 'Count the words of a text file.',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string', description: 'File, from the working directory.' } },
      required: ['path'],
      additionalProperties: false,
    },
    // Nothing changes anywhere, so calls may run side by side and are not logged before they run.
    effect: 'read',
    concurrency: 'parallel',
    // The words of a file may be somebody else's: the result is fenced, and the session is tainted.
    external: true,
    icon: '🔢',
    summarize: ({ path }) => `count the words of ${path}`,
    // What the policy decides before `execute` is called.
    actions: ({ path }, { environment }) => [
      { type: 'read', path: environment.resolve(path), backend: environment.backend },
    ],
    async execute({ path }, { environment, signal }) {
      const bytes = await environment.read(path)
      signal.throwIfAborted()
      if (!bytes) throw new HermesError(`There is no file ${path}. Look for it first.`, { code: 'tool.not_found' })
      const words = new TextDecoder().decode(bytes).split(/\s+/).filter(Boolean).length
      return { data: { path, words } }
    },
  })
