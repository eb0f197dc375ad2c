import type { Tool } from '@hermes/contracts/tool'
import { createToolRegistry, TOOLSETS } from '@hermes/registry'
import { REDACTED } from '@hermes/safety'
import { expect, it } from 'vitest'
import * as tools from './index.js'

const MAX_BYTES = 5500

const all: readonly Tool[] = Object.entries(tools)
  .filter(([name]) => /^create\w+Tool$/.test(name))
  .map(([, create]) => (create as () => Tool)())

it('describes the eight tools that are not deferred to a model in under 5.5 kB', async () => {
  const shown = all.filter(({ toolset }) => !TOOLSETS[toolset]!.isDeferred)
  const definitions = await createToolRegistry({ tools: shown }).definitions()
  const sizes = Object.fromEntries(definitions.map((one) => [one.name, Buffer.byteLength(JSON.stringify(one))]))
  const total = Buffer.byteLength(JSON.stringify(definitions))
  process.stdout.write(`tool definitions: ${total} bytes ${JSON.stringify(sizes)}\n`)
  expect(definitions).toHaveLength(8)
  expect(total).toBeLessThan(MAX_BYTES)
})

it('fills the built-in toolsets', () => {
  const expected = ['file', 'terminal', 'todo', 'clarify', 'vision'].flatMap((name) => TOOLSETS[name]!.tools)
  expect(all.map((tool) => tool.name).sort()).toEqual([...expected].sort())
})

it('knows the marker that redaction leaves', () => {
  expect(tools.defaultToolSettings.redactionMarker).toBe(REDACTED)
})
