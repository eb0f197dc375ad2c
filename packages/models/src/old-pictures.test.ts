import type { ImagePart, Message, TextPart } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import { expect, it } from 'vitest'
import { withoutOldPictures } from './old-pictures.js'

const picture = (number: number): ImagePart => ({ type: 'image', mediaType: 'image/jpeg', data: `${number}` })
const shot = (number: number): Message => ({
  ...{ role: 'tool', callId: `c${number}`, toolName: 'browser_vision', isError: false },
  content: [{ type: 'text', text: `page ${number}`, origin: 'external' } as TextPart, picture(number)],
})
const request = (...messages: readonly Message[]) => ({ model: 'm', messages, tools: [] }) as unknown as ModelRequest
const numbers = ({ messages }: ModelRequest, role: string) =>
  messages.flatMap((message) =>
    message.role === role ? message.content.flatMap((part) => (part.type === 'image' ? [Number(part.data)] : [])) : [],
  )
const shots = (count: number) => Array.from({ length: count }, (_, at) => shot(at + 1))

it('ten of the oldest pictures of tools leave a request together once there are more than twenty', () => {
  for (const [count, first] of [
    [20, 1],
    [21, 11],
    [30, 11],
    [31, 21],
  ] as const) {
    const kept = numbers(withoutOldPictures(request(...shots(count))), 'tool')
    expect([kept[0], kept.at(-1), kept.length]).toEqual([first, count, count - first + 1])
  }
})

it('in their place is a line, their texts stay, and the conversation and what a person sent are as they were', () => {
  const sent: Message = { role: 'user', content: [picture(0)] }
  const before = request(sent, ...shots(21))
  const copy = structuredClone(before)
  const after = withoutOldPictures(before)
  expect(before).toEqual(copy)
  expect(numbers(after, 'user')).toEqual([0])
  expect(after.messages[1]!.content).toEqual([
    { type: 'text', text: 'page 1', origin: 'external' },
    { type: 'text', text: expect.stringContaining('older picture was left out'), origin: 'reminder' },
  ])
  // The next picture changes nothing before it.
  expect(withoutOldPictures(request(sent, ...shots(22))).messages.slice(0, 22)).toEqual(after.messages)
})
