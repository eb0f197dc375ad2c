import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const repository = join(import.meta.dirname, '../..')
const check = (root: string) => {
  const args = [join(repository, 'scripts/measure.mjs'), '--check', '--root', root]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, lines: stderr.trim().split('\n').filter(Boolean) }
}

it('no function of the repository only calls another without a reason', () => {
  expect(check(repository)).toEqual({ status: 0, stdout: '', lines: [] })
})

it('a function that only calls another is named, and none that has a reason by its form', async () => {
  const root = await mkdtemp(join(tmpdir(), 'hermes-measure-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'packages/kettle/src'), { recursive: true })
  const text = `const boil = (cups: number, milk = false) => cups + (milk ? 1 : 0)
export function heat(cups: number) {
  return boil(cups)
}
export class Kettle implements Pot {
  pour(cups: number) {
    return boil(cups)
  }
}
export const isCup = (text: string) => CUP.test(text)
export const parts = { stop: () => void boil(1) }
`
  await writeFile(join(root, 'packages/kettle/src/kettle.ts'), text)
  expect(check(root)).toEqual({
    status: 1,
    stdout: '',
    lines: ['packages/kettle/src/kettle.ts:2 heat only calls another function'],
  })
})
