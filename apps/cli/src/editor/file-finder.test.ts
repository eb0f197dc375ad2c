import { describe, expect, it } from 'vitest'
import { createFileFinder } from './file-finder.js'

const names = (count: number) =>
  Array.from({ length: count }, (_, at) => `area-${at % 97}/part-${at % 7}/file-${at}.ts`)

describe('createFileFinder', () => {
  it('puts what is called so before what lies in a folder called so, and folders with files', async () => {
    const finder = createFileFinder(async function* () {
      yield ['screen/other.ts', 'src/screen.ts', 'src/sources/reen.ts']
    })
    expect((await finder.find('screen')).slice(0, 3)).toEqual(['screen/', 'src/screen.ts', 'screen/other.ts'])
  })

  it('answers with what there is while a large workspace is being listed, then with all of it', async () => {
    let goOn = (): void => undefined
    const more = new Promise<void>((resolve) => (goOn = resolve))
    const finder = createFileFinder(async function* () {
      yield ['early.ts']
      await more
      yield ['later.ts']
    })
    expect(await finder.find('')).toEqual(['early.ts'])
    expect(finder.isListing).toBe(true)
    goOn()
    await expect.poll(() => finder.isListing).toBe(false)
    expect(await finder.find('late')).toEqual(['later.ts'])
  })

  it('finds one of 100,000 files, and other work has its turn in between', async () => {
    const finder = createFileFinder(async function* () {
      const all = names(100_000)
      for (let at = 0; at < all.length; at += 1000) yield all.slice(at, at + 1000)
    })
    await finder.find('')
    let turns = 0
    const isDone = finder.find('file-99998.ts').then((found) => {
      const seen = turns
      turns = Number.NaN
      return { found, seen }
    })
    const count = () => {
      if (Number.isNaN(turns)) return
      turns++
      setImmediate(count)
    }
    setImmediate(count)
    const { found, seen } = await isDone
    expect(found[0]).toBe(names(99_999).at(-1))
    expect(seen).toBeGreaterThan(3)
  })

  it('has what it could list of a workspace that fails', async () => {
    const finder = createFileFinder(async function* () {
      yield ['one.ts']
      throw new Error('gone')
    })
    expect(await finder.find('one')).toEqual(['one.ts'])
  })
})
