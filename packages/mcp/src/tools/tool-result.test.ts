import { expect, it } from 'vitest'
import { toToolResult } from './tool-result.js'

const text = (of: string) => ({ type: 'text', text: of }) as const

it('keeps texts and images in their order, and data as data', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
  expect(toToolResult({ content: [text('a'), text('b'), image, text('c')], structuredContent: { n: 1 } })).toEqual({
    data: { n: 1 },
    text: 'a\nb',
    parts: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }, text('c')],
    external: true,
  })
})

it('shows data where nothing else is said, and says what failed', () => {
  expect(toToolResult({ content: [], structuredContent: { n: 1 } })).toMatchObject({ text: '{"n":1}', data: { n: 1 } })
  expect(toToolResult({ content: [] })).toMatchObject({ text: '(no content)' })
  expect(toToolResult({ content: [text('no')], isError: true })).toMatchObject({ isError: true })
})

it('names what no model sees instead of showing it', () => {
  const svg = { type: 'image', mimeType: 'image/svg+xml', data: 'AAAA' } as const
  const large = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(8_000_000) } as const
  const audio = { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' } as const
  const blob = {
    type: 'resource',
    resource: { uri: 'file:///a.zip', mimeType: 'application/zip', blob: 'AAAA' },
  } as const
  const link = { type: 'resource_link', uri: 'file:///b', name: 'b' } as const
  const { text: shown } = toToolResult({ content: [svg, large, audio, blob, link] }) as { readonly text: string }
  expect(shown.split('\n')).toEqual([
    '[an image of type image/svg+xml, which no model sees]',
    '[an image of 6000000 bytes, too large to be shown]',
    '[a recording, audio/wav, 3 bytes, which cannot be heard here]',
    '[file:///a.zip: application/zip, 3 bytes, which is no text]',
    '[resource b: file:///b]',
  ])
})

it('shows eight images and a thousand parts at most', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
  const { parts } = toToolResult({ content: Array.from({ length: 2_000 }, () => image) }) as {
    readonly parts: unknown[]
  }
  expect(parts.filter((part) => (part as { type: string }).type === 'image')).toHaveLength(8)
  expect(parts).toHaveLength(1_001)
})
