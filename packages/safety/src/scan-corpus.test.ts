// Attacks and harmless texts that were written before the scanner and apart from it. Every fifth attack of a class is held out: with
// HERMES_TEST_HELD_OUT=1 the cases run on those instead.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scanContext } from './scan-context.js'

interface Sample {
  readonly id: string
  readonly text: string
}

const FIXTURES = join(import.meta.dirname, '__fixtures__')
const read = (file: string): readonly Sample[] =>
  readFileSync(join(FIXTURES, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample)

const isHeldOut = ({ id }: Sample) => Number(id.slice(-2)) % 5 === 0
const wantsHeldOut = process.env['HERMES_TEST_HELD_OUT'] === '1'
const attacks = readdirSync(join(FIXTURES, 'injections'))
  .flatMap((file) => read(join('injections', file)))
  .filter((attack) => isHeldOut(attack) === wantsHeldOut)
const unseen = (texts: readonly Sample[]) =>
  texts.filter(({ text }) => scanContext(text).length === 0).map(({ id }) => id)
const ofClass = (name: string) => attacks.filter(({ id }) => id.replace(/-\d+$/, '') === name)

describe('attacks', () => {
  // The other classes read like ordinary advice: what they are after is stopped by the policy.
  it.each([
    'override',
    'role',
    'fake-turn',
    'hide',
    'hidden-markup',
    'invisible',
    'homoglyph',
    'encoded',
    'languages',
    'memory',
  ])('are seen: %s', (name) => {
    expect(ofClass(name).length).toBeGreaterThan(0)
    // Of the two that are held out one may be missed; what it is after is stopped all the same.
    expect(unseen(ofClass(name)).length).toBeLessThanOrEqual(wantsHeldOut ? 1 : 0)
  })

  it('are seen in three of four cases over all classes, in two of three of those that are held out', () => {
    expect(unseen(attacks).length / attacks.length).toBeLessThan(wantsHeldOut ? 0.35 : 0.25)
  })
})

describe('harmless text', () => {
  it('is let through where it speaks of prompts, instructions and secrets', () => {
    const found = read('harmless.jsonl').filter(({ text }) => scanContext(text).length > 0)
    expect(found.map(({ id }) => id)).toEqual([])
  })

  it('is let through in the documents of installed packages, but for one in a hundred', () => {
    const root = join(import.meta.dirname, '../../../node_modules/.pnpm')
    const files = globSync('*/node_modules/{*,@*/*}/{README,CONTRIBUTING,CHANGELOG}.md', { cwd: root })
    const texts = [...new Set(files.map((file) => readFileSync(join(root, file), 'utf8').slice(0, 100_000)))]
    expect(texts.length).toBeGreaterThan(200)
    expect(texts.filter((text) => scanContext(text).length > 0).length).toBeLessThanOrEqual(texts.length / 100)
  })
})
