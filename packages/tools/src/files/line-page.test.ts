import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '@hermes/contracts/environment'
import { describe, expect, it } from 'vitest'
import { createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { lineIndexOf } from './line-index.js'
import { readLinePage } from './line-page.js'

/** A pseudo-random sequence, so that a failure comes again. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
}

async function open(content: string | Uint8Array, more: Partial<Environment> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  const path = join(folder, 'large.txt')
  await writeFile(path, content)
  const { state, signal } = createToolContext({ environment })
  const reads: { offset: number; length: number }[] = []
  const watched: Environment = Object.assign(Object.create(environment) as Environment, more, {
    read: (target: string, options: { offset: number; length: number }) => {
      reads.push(options)
      return environment.read(target, options)
    },
  })
  const page = async (offset: number, limit: number) => {
    const { sizeBytes, version } = (await environment.stat(path))!
    const request = { path, sizeBytes, offset, limit, maxLineLength: 100_000, signal }
    const result = await readLinePage(watched, request, () => lineIndexOf(state, path, version))
    if (!result || 'kind' in result) throw new Error('expected a page')
    return result
  }
  return { path, page, reads }
}

describe('pages of a file of several megabytes', () => {
  it.each([
    ['LF', '\n', true],
    ['CRLF, no line end at the end', '\r\n', false],
  ])('are those of its lines, wherever they begin: %s', async (_, lineEnd, endsWithLineEnd) => {
    const next = random(lineEnd.length)
    const words = ['word', 'größer', '日本語', '🎉', '']
    const lines: string[] = []
    for (let chars = 0; chars < 2_500_000; ) {
      const line = `${words[next(words.length)]} `.repeat(next(next(50) === 0 ? 8_000 : 60))
      lines.push(line)
      chars += line.length + 1
    }
    const { page } = await open(`\uFEFF${lines.join(lineEnd)}${endsWithLineEnd ? lineEnd : ''}`)
    const total = lines.length - (!endsWithLineEnd && lines.at(-1) === '' ? 1 : 0)
    for (let round = 0; round < 12; round++) {
      const [offset, limit] = [1 + next(lines.length + 20), 1 + next(200)]
      expect(await page(offset, limit)).toEqual({
        lines: lines.slice(0, total).slice(offset - 1, offset - 1 + limit),
        totalLines: total,
        complete: true,
        clampedLines: 0,
      })
    }
  })

  it('are found again without looking through what lies before them', async () => {
    const { page, reads } = await open('some line of the file\n'.repeat(400_000))
    await page(390_000, 10)
    const before = reads.length
    expect((await page(380_000, 10)).lines).toHaveLength(10)
    expect(reads.length - before).toBeLessThanOrEqual(2)
  })

  it('follow the file when it changes', async () => {
    const { path, page } = await open('old line of the file\n'.repeat(200_000))
    expect((await page(150_000, 1)).lines).toEqual(['old line of the file'])
    await writeFile(path, 'new\n'.repeat(400_000))
    expect(await page(150_000, 1)).toMatchObject({ lines: ['new'], totalLines: 400_000 })
  })
})

it('does not count the lines of a huge file for their own sake', async () => {
  const { path, page, reads } = await open('first\nsecond\nthird\n')
  await truncate(path, 3_000_000_000)
  await writeFile(path, 'x\n'.repeat(600_000), { flag: 'r+' })
  const result = await page(2, 2)
  expect(result).toMatchObject({ lines: ['x', 'x'], complete: false })
  expect(reads).toHaveLength(1)
})

it.each([
  ['UTF-8', 'x', 'utf8'],
  ['UTF-16', '\uFEFFx', 'utf16le'],
] as const)('stops in a line of %s that does not end', async (_, start, encoding) => {
  const { path, page, reads } = await open(Buffer.from(start.padEnd(200_000, 'x'), encoding))
  await truncate(path, 4 * 2 ** 30)
  const { lines, totalLines, complete, clampedLines } = await page(1, 5)
  expect({ totalLines, complete, clampedLines }).toEqual({ totalLines: 1, complete: false, clampedLines: 1 })
  expect(lines).toEqual([expect.stringMatching(/^x{100000} \[… at least \d+ more characters\]$/)])
  expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(70 * 2 ** 20)
})

it('goes no deeper into UTF-16 than it would have to decode', async () => {
  const { path, page, reads } = await open(Buffer.from('\uFEFFone\ntwo\n', 'utf16le'))
  await truncate(path, 4 * 2 ** 30)
  expect(await page(1, 2)).toMatchObject({ lines: ['one', 'two'], complete: false })
  expect(await page(9, 1)).toMatchObject({ lines: [], complete: false })
  expect(reads.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(70 * 2 ** 20)
})
