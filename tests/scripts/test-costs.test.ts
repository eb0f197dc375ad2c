import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { calibrate, clockVerdict, reckon } from '../../scripts/test-costs.mjs'

const folder = mkdtempSync(join(tmpdir(), 'hermes-costs-'))
afterAll(() => rmSync(folder, { recursive: true }))

const shares = join(folder, 'shares.json')
writeFileSync(shares, JSON.stringify({ clock: 600, packages: { 'packages/a': 3, 'tests/cli': 1 } }))

function reckoned(files: Record<string, number>, calibrationMs: number) {
  const costs = join(folder, 'costs')
  const lines = Object.entries(files).map(([file, cpuMs]) => JSON.stringify({ file: join(folder, file), cpuMs }))
  writeFileSync(costs, lines.join('\n'))
  return reckon({ costs, shares, root: folder, calibrationMs })
}

describe('the cost of tests', () => {
  const files = { 'packages/a/src/x.test.ts': 2_000, 'packages/a/src/y.test.ts': 2_000, 'tests/cli/z.test.ts': 500 }

  it('is added up by package, and is over when one takes more than its share', () => {
    const { lines, isOver } = reckoned(files, 140)
    expect(lines.map((line) => line.split(/\s+/).slice(0, 2))).toEqual([
      ['packages/a', '4.0'],
      ['tests/cli', '0.5'],
    ])
    expect(lines[0]).toContain('TOO MUCH')
    expect(isOver).toBe(true)
  })

  it('counts for less where a fixed piece of work takes longer as well', () => {
    expect(reckoned(files, 280)).toMatchObject({
      isOver: false,
      lines: [expect.stringMatching(/ 2\.0 s of 3 s$/), expect.anything()],
    })
    expect(calibrate()).toBeGreaterThan(0)
  })

  it('has a share for each package', () => {
    expect(reckoned({ 'packages/b/src/x.test.ts': 1 }, 140)).toMatchObject({ isOver: true })
  })
})

it('every package and every folder of tests has a share', () => {
  const root = join(import.meta.dirname, '../..')
  const { packages } = JSON.parse(readFileSync(join(root, 'scripts/test-shares.json'), 'utf8'))
  const tests = globSync('{packages,apps,tests}/*/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
  const folders = new Set(tests.map((path) => path.replaceAll('\\', '/').split('/').slice(0, 2).join('/')))
  expect(Object.keys(packages).sort()).toEqual([...folders].sort())
})

describe('the clock', () => {
  const at = (clock: number, all: number | null, own: number | null) => ({ clock, all, own })
  const verdict = (after: ReturnType<typeof at>, { isWhole = true, calibrationMs = 140 } = {}) =>
    clockVerdict({ before: at(0, 0, 0), after, shares, isWhole, calibrationMs }).isOver

  it('counts while other programs leave the processors alone, and for a whole run', () => {
    expect(verdict(at(800, 500, 500))).toBe(true)
    expect(verdict(at(500, 500, 500))).toBe(false)
    expect(verdict(at(700, 500, 500))).toBe(false)
    expect(verdict(at(800, 1e6, 500))).toBe(false)
    expect(verdict(at(800, null, null))).toBe(false)
    expect(verdict(at(800, 500, 500), { isWhole: false })).toBe(false)
  })

  it('goes slower on a slower machine, never faster', () => {
    expect(verdict(at(800, 500, 500), { calibrationMs: 280 })).toBe(false)
    expect(verdict(at(800, 500, 500), { calibrationMs: 70 })).toBe(true)
    expect(verdict(at(500, 500, 500), { calibrationMs: 70 })).toBe(false)
  })
})
