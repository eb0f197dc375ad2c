import type { Extension } from '@hermes/contracts/extension'

/** What the tool does; a function of its own is easily tested. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}

const extension: Extension = {
  name: 'word-count',
  setup(api) {
    api.tools.add({
      name: 'word_count',
      toolset: 'word-count',
      description: 'Counts the words of a text.',
      parameters: {
        type: 'object',
        properties: { text: { type: 'string', description: 'The text.' } },
        required: ['text'],
      },
      effect: 'read',
      concurrency: 'parallel',
      execute: (args) => ({ data: { words: countWords((args as { text: string }).text) } }),
    })
    api.commands.add({
      name: 'word-count',
      summary: 'counts words',
      needsSession: false,
      parameters: { type: 'object', properties: { text: { type: 'string', default: '' } } },
      run: ({ text }) => ({ type: 'text', text: `${countWords(String(text))} words` }),
    })
  },
}
export default extension
