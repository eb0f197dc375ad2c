import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TOOLSETS } from '@hermes/registry'
import { expect, it } from 'vitest'

/** The origin of a part of a message has that name too. */
const ORIGIN = 'memory'

const ROOMS = ['answers', 'context-window', 'events', 'loop', 'permits', 'program-calls', 'session', 'steering']

it('the loop, the session and the rooms around them name no tool: what depends on one is an extension', () => {
  const names = [...new Set(Object.values(TOOLSETS).flatMap(({ tools }) => tools))].filter((name) => name !== ORIGIN)
  const named = new RegExp(`['"\`](?:${names.join('|')})['"\`]`)
  const files = ROOMS.flatMap((folder) => {
    const directory = join(import.meta.dirname, '..', folder)
    return readdirSync(directory).map((file) => join(directory, file))
  })
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  expect(names.length).toBeGreaterThan(10)
  expect(sources.length).toBeGreaterThan(20)
  const hits = sources.filter((file) => named.test(readFileSync(file, 'utf8')))
  expect(hits).toEqual([])
})
