import type { JsonObject } from '@hermes/contracts'
import type { CommandContext } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { commandsOfConversation } from './conversation-commands.js'

it('/fast asks for answers sooner or later, says what that means for prices, and goes back', async () => {
  const chosen: (string | null)[] = []
  const session = {
    provider: 'openai',
    get serviceTier() {
      return chosen.at(-1) ?? null
    },
    setServiceTier: async (tier: string | null) => void chosen.push(tier),
  }
  const command = commandsOfConversation({} as never).find(({ name }) => name === 'fast')!
  const say = async (tier?: string) =>
    (
      (await command.run(tier === undefined ? {} : { tier }, { session } as unknown as CommandContext)) as {
        text: string
      }
    ).text
  expect(await say()).toBe('openai is asked for answers as usual.')
  expect(await say('on')).toMatch(/sooner, at a higher price, from the next request on\. .*\/usage has no price/)
  expect(await say('flex')).toMatch(/when there is room/)
  expect(await say('status')).toMatch(/when there is room, at a lower price\./)
  expect(await say('off')).toBe('openai is asked for answers as usual, from the next request on.')
  expect(chosen).toEqual(['fast', 'flex', 'standard'])
})

it('/model lets another provider serve the session from here on', async () => {
  const changes: object[] = []
  const session = { model: 'm', provider: 'work', changeModel: async (change: object) => void changes.push(change) }
  const command = commandsOfConversation({} as never).find(({ name }) => name === 'model')!
  const run = (args: JsonObject) => command.run(args, { session } as unknown as CommandContext)
  expect(await run({ id: 'm', provider: 'work', force: true })).toMatchObject({
    text: 'Now m at work answers, in the same shell.',
  })
  expect(await run({ id: 'm' })).toMatchObject({ text: 'Now m answers, in the same shell.' })
  expect(changes).toEqual([
    { model: 'm', provider: 'work', force: true },
    { model: 'm', force: false },
  ])
})
