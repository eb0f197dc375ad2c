// An agent in a program of your own, with a tool, a hook and a store. Run: node examples/guides/embed.ts FOLDER
import { join } from 'node:path'
import { createAgent, standardExtensions } from '@hermes/agent-core'
import type { Extension } from '@hermes/contracts/extension'
import { defineTool } from '@hermes/contracts/tool'
import { openStorage } from '@hermes/storage'

const stock = new Map([['apples', 3]])

/** Without `effect: 'read'` a call is logged before it runs, and never repeated after a crash. */
const sell = defineTool<{ item: string; count: number }>({
  name: 'sell',
  toolset: 'shop',
  description: 'Sells pieces of an item and says how many are left.',
  parameters: {
    type: 'object',
    properties: { item: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
    required: ['item', 'count'],
  },
  execute({ item, count }) {
    const left = (stock.get(item) ?? 0) - count
    if (left < 0) return { text: `There are not ${count} ${item}.`, isError: true }
    stock.set(item, left)
    return `${left} ${item} left.`
  },
})

/** A gate: what it blocks does not run, and the model is told why. What it lets pass still needs a permit of the policy. */
const smallSales: Extension = {
  name: 'small-sales',
  setup({ hooks }) {
    hooks.on('before-tool-call', ({ tool, args }) =>
      tool.name === 'sell' && Number(args['count']) > 2
        ? { type: 'block', reason: 'At most two pieces a sale.' }
        : undefined,
    )
  },
}

const [folder = '.'] = process.argv.slice(2)
const { OPENAI_BASE_URL: baseUrl = 'https://api.openai.com/v1', OPENAI_API_KEY: apiKey = '' } = process.env
const store = await openStorage({ path: join(folder, 'shop.db') })
const agent = createAgent({
  model: { provider: 'custom', model: 'gpt-4.1', baseUrl, apiKey },
  tools: [sell],
  extensions: [...standardExtensions(), smallSales],
  // The same id the next time resumes the session, also in another process.
  session: { store, id: 'shop-1' },
})
const run = agent.run('Sell three apples; if that does not work, two.')
for await (const event of run) if (event.type === 'tool-end') console.log(event.isError ? 'refused' : 'sold')
const { status, text } = await run.result
console.log(`${status}: ${text}`)
await agent.close()
await store.close()
