// What the built apps load lazily has the names that are taken from it: sources run in Node, which finds them by itself, and a bundle does not.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const namesOf = (list: string, which: 0 | -1) =>
  list.split(',').flatMap((part) => {
    const name = part
      .trim()
      .split(/\s+as\s+|\s*[:=]\s*/)
      .at(which)
    return name ? [name] : []
  })

/** What a file takes of a chunk, which may be a part of a script. */
const TAKEN = /\{([^{}]*)\}\s*=\s*await import\(["']\.\/([^"']+)["']\)(?:\.then\(\(\{need\}\)=>need\("([^"]+)"\)\))?/g

/** `FILE wants NAME of FILE`, for each name that is taken from a chunk without it. */
function missing(folder: string): readonly string[] {
  const texts = new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
  const exported = new Map(
    [...texts].map(([name, text]) => [
      name,
      new Set([
        ...[...text.matchAll(/export\s*\{([^}]*)\}/g)].flatMap(([, list]) => namesOf(list!, -1)),
        ...(/export default/.test(text) ? ['default'] : []),
      ]),
    ]),
  )
  return [...texts].flatMap(([file, text]) =>
    [...text.matchAll(TAKEN)].flatMap(([, list, from, chunk]) => {
      const there = exported.get(chunk ?? from!)
      return there === undefined
        ? []
        : namesOf(list!, 0)
            .filter((name) => !there.has(name))
            .map((name) => `${file} wants ${name} of ${chunk ?? from}`)
    }),
  )
}

it.each(['cli', 'gateway', 'acp'])('%s finds every name in what it loads lazily', (app) => {
  const folder = join(import.meta.dirname, '../../apps', app, 'dist')
  expect(readdirSync(folder).length).toBeGreaterThan(50)
  expect(missing(folder)).toEqual([])
})
