import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const folder = resolve(import.meta.dirname, '../../docs/decisions')
const PARTS = [/^(?:\*\*)?Status:/m, /^## Context$/m, /^## Decision$/m, /^## Alternatives$/m, /^## Consequences$/m]

it('a decision has status, context, decision, alternatives and consequences, in this order', async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'))
  expect(names.length).toBeGreaterThan(40)
  const wrong = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      const places = PARTS.map((part) => text.search(part))
      return places.every((place, index) => place > (places[index - 1] ?? -1)) ? [] : [name]
    }),
  )
  expect(wrong.flat()).toEqual([])
})
