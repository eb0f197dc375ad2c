// node process.mjs ROUNDS: how long a change of a source with 2,000 tools takes to reach 20 open sessions of a home, as JSON.
const { createExtensionRegistry } = await import('../../packages/agent-core/src/index.ts')
const { createToolRegistry, CORE_TOOLSETS, TOOL_CALL } = await import('../../packages/registry/src/index.ts')

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const [TOOLS, SESSIONS] = [2_000, 20]
const reachedMs = []
let tools = []
let changed = () => undefined
const source = {
  name: 'mcp-large',
  list: async () => tools,
  onChange: (listener) => {
    changed = listener
    return () => undefined
  },
}
const extensions = createExtensionRegistry([{ name: 'large', setup: (api) => void api.tools.addSource(source) }], {
  logger: silent,
})
const selection = { enabled: ['hermes-cli'], disabled: [] }
const sessions = []
for (let count = 0; count < SESSIONS; count++) {
  const registry = createToolRegistry({ disclosure: { mode: 'auto', budgetTokens: 10_000, core: CORE_TOOLSETS } })
  registry.use(extensions.tools)
  sessions.push({ registry, shown: (await registry.definitions(selection)).map(({ name }) => name) })
}
for (let round = 0; round < Number(process.argv[2]); round++) {
  tools = Array.from({ length: TOOLS }, (_, at) => ({
    name: `mcp_large_${round}_${at}`,
    toolset: 'mcp-large',
    description: `Does the thing number ${at} in round ${round}, in about as many words as servers use for it.`,
    parameters: {
      type: 'object',
      properties: { id: { type: 'string', description: 'Which one' }, limit: { type: 'integer' } },
      required: ['id'],
    },
    execute: () => 'done',
  }))
  const name = `mcp_large_${round}_${TOOLS - 1}`
  const startMs = performance.now()
  changed()
  // The list is given in a promise, as those of servers are.
  while (extensions.tools.get(name) === null) await null
  for (const { registry, shown } of sessions) {
    const call = { name: TOOL_CALL, args: { name, arguments: { id: 'x' } } }
    const prepared = await registry.prepare(call, registry.callable(shown, selection))
    if (prepared.type !== 'prepared') throw new Error(prepared.outcome.content[0].text)
  }
  reachedMs.push(performance.now() - startMs)
}
console.log(JSON.stringify({ reachedMs }))
process.exit(0)
