import type { Command } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { mcpCommands } from './mcp-commands.js'

it('says in a line that what follows the name is no JSON', async () => {
  const commands: Command[] = []
  mcpCommands({ commands: { add: (command: Command) => commands.push(command) } } as never, {} as never)
  const mcp = commands.find(({ name }) => name === 'mcp')!
  for (const text of ['{"command": ', '{'])
    await expect(mcp.run({ words: ['add', 'x', text] }, {} as never)).rejects.toMatchObject({ code: 'commands.usage' })
})
