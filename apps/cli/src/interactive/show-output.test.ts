import { expect, it } from 'vitest'
import type { Console } from './console.js'
import { showOutput } from './show-output.js'
import { Written } from './written.js'

it('draws what a model wrote as Markdown where that is wanted', async () => {
  for (const [drawsMarkdown, shown] of [
    [true, 'one\n• two\n'],
    [false, '**one**\n- two\n'],
  ] as const) {
    let screen = ''
    const output = { isTTY: true, write: (text: string) => (screen += text), columns: () => 80, colors: false }
    const written = new Written(output as never, () => '')
    const to = { written, console: { output } as unknown as Console, display: { drawsMarkdown } }
    const nothing = async () => undefined
    await showOutput(
      { type: 'text', format: 'markdown', text: '**one**\n- two' },
      { ...to, typed: nothing, change: nothing },
    )
    expect(screen).toBe(shown)
  }
})
