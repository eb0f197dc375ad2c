import type { Command, CommandContext } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { mcpCommands } from './mcp-commands.js'

function mcpCommand(): Command {
  const commands: Command[] = []
  mcpCommands({ commands: { add: (command: Command) => commands.push(command) } } as never, {} as never)
  return commands.find(({ name }) => name === 'mcp')!
}

it('says in a line that what follows the name is no JSON', async () => {
  const mcp = mcpCommand()
  for (const text of ['{"command": ', '{'])
    await expect(mcp.run({ words: ['add', 'x', text] }, {} as never)).rejects.toMatchObject({ code: 'commands.usage' })
})

it('says where to log in, where nobody would see the address', async () => {
  const inChat = { session: { id: 's' }, notice: () => undefined } as unknown as CommandContext
  await expect(mcpCommand().run({ words: ['login', 'notes'] }, inChat)).rejects.toMatchObject({
    code: 'commands.usage',
    message: expect.stringMatching(/in a terminal: hermes mcp login notes$/),
  })
})
