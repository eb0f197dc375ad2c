import type { ExtensionApi, PromptSection } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { personalities } from './extension.js'

function promptWith(chosen: string): unknown {
  let prompt: unknown
  const section = ({ render }: PromptSection) => (prompt = render({ platform: 'cli' } as never))
  const api = { prompt: { section }, commands: { add: () => undefined } }
  void personalities({ chosen, own: { dry: { tone: 'dry' } } }).setup(api as unknown as ExtensionApi)
  return prompt
}

it('speaks as it would without one where no personality has the name', () => {
  expect(promptWith('dry')).toBe('How you speak:\nTone: dry')
  for (const name of ['toString', 'constructor', '__proto__', '']) expect(promptWith(name)).toBe(undefined)
})
