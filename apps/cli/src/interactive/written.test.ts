import { expect, it } from 'vitest'
import { Written } from './written.js'

it('leaves one empty line before the next message, whatever the answer ended with', () => {
  for (const pieces of [['An answer.'], ['An answer.\n'], ['An answer.\n', '']]) {
    let screen = ''
    const output = { isTTY: true, write: (text: string) => (screen += text), columns: () => 80, colors: false }
    const written = new Written(output as never, () => '')
    for (const piece of pieces) written.stream.write(piece)
    written.echo('Next.')
    expect(screen).toBe('An answer.\n\n> Next.\n')
  }
})
