import { describe, expect, it } from 'vitest'
import { createLineMatcher } from './line-matcher.js'

const row = (at: number) => `${at % 3 === 0 ? 'a needle' : 'hay'} ${'.'.repeat(at % 200)} ${at}`
const long = Array.from({ length: 20_000 }, (_, at) => row(at))
const short = Array.from({ length: 40 }, (_, at) => row(at))
const files = [short, long, [], ['one needle'], [`needle ${'x'.repeat(600_000)}`, 'needle'], short]

describe.each(['needle', 'ne+dle'])('a matcher of %s', (pattern) => {
  it('gives the numbers of lines, however long the files are', async () => {
    const expected = files.map((lines) => lines.flatMap((line, at) => (line.includes('needle') ? [at] : [])))
    expect(await createLineMatcher(pattern)(files)).toEqual(expected)
  })

  it('lets other work have its turn', async () => {
    let turns = 0
    let isOver = false
    const turn = () => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    await createLineMatcher(pattern)(files)
    isOver = true
    expect(turns).toBeGreaterThanOrEqual(4)
  })
})
