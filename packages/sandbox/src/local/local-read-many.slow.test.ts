import { execFile, execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FileContent, ReadManyOptions } from '@hermes/contracts/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLocalEnvironment } from './local-environment.js'
import { readMany } from './local-read-many.js'

const ALL: ReadManyOptions = { maxBytes: 1_000_000, signal: new AbortController().signal }

async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sandbox-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

async function* input(paths: readonly string[]) {
  yield paths
}

async function collect(contents: AsyncIterable<readonly FileContent[]>): Promise<readonly FileContent[]> {
  const all: FileContent[] = []
  for await (const some of contents) all.push(...some)
  return all
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `f${at}`)
const threads = () => process.getActiveResourcesInfo().filter((name) => /Worker|MessagePort/.test(name))

for (const [how, threadAfter] of [
  ['in a thread', 0],
  ['without a thread', Number.POSITIVE_INFINITY],
] as const) {
  describe(`many files ${how}`, () => {
    const read = async (folder: string, paths: readonly string[], options: Partial<ReadManyOptions> = {}) =>
      (await collect(readMany(folder, input(paths), { ...ALL, ...options }, threadAfter))).map(
        ({ path, bytes }) => [path, Buffer.from(bytes).toString('latin1')] as const,
      )

    it('come whole and in the order they were asked for', async () => {
      const names = numbered(700)
      const files = names.map((name, at) => [name, `content ${at}\xff\0`.repeat(at % 50)] as const)
      const folder = await folderWith(
        Object.fromEntries(files.map(([name, text]) => [name, Buffer.from(text, 'latin1')])),
      )
      const backwards = files.toReversed()
      expect(
        await read(
          folder,
          backwards.map(([name]) => name),
        ),
      ).toEqual(backwards)
    })

    it('come whole when together they are more than one answer holds', async () => {
      const files = numbered(40).map((name, at) => [name, String(at).repeat(at % 3 === 0 ? 250_000 : 1000)] as const)
      const folder = await folderWith(Object.fromEntries(files))
      expect(await read(folder, numbered(40))).toEqual(files)
    })

    it('are left out when they are missing, too large, no regular files, or behind a link', async () => {
      const folder = await folderWith({ 'a b/ü.txt': 'here', large: 'x'.repeat(11), full: 'x'.repeat(10), empty: '' })
      execFileSync('mkfifo', [join(folder, 'pipe')])
      await symlink('full', join(folder, 'link'))
      await symlink('loop', join(folder, 'loop'))
      await symlink('a b', join(folder, 'way'))
      const paths = [
        'none',
        'a b/ü.txt',
        'a b',
        'pipe',
        'loop',
        'full/x',
        'large',
        'nul\0',
        'full',
        'empty',
        'link',
        'way/ü.txt',
      ]
      const found = { 'a b/ü.txt': 'here', full: 'x'.repeat(10), empty: '' }
      expect(await read(folder, paths, { maxBytes: 10 })).toEqual(Object.entries(found))
    })

    it('are left out when they hold none of the bytes that are asked for', async () => {
      const folder = await folderWith({ a: 'one', b: 'a two', c: 'three', d: 'on e', e: '' })
      const containing = ['one', 'two'].map((text) => new TextEncoder().encode(text))
      expect((await read(folder, ['a', 'b', 'c', 'd', 'e'], { containing })).map(([path]) => path)).toEqual(['a', 'b'])
    })

    it.skipIf(process.platform !== 'linux')('are read to their end when they do not tell their size', async () => {
      const [[, status] = ['', '']] = await read(`/proc/${process.pid}`, ['status'])
      expect(status).toContain('Threads:')
      expect(await read('/dev', ['zero', 'null'])).toEqual([])
    })

    it('are read no further after an abort, which is what the reader hears', async () => {
      const folder = await folderWith(Object.fromEntries(numbered(600).map((name) => [name, name])))
      const aborting = new AbortController()
      const { signal } = aborting
      const reading = async () => {
        for await (const _ of readMany(folder, input(numbered(600)), { ...ALL, signal }, threadAfter))
          aborting.abort(new Error('enough'))
      }
      await expect(reading()).rejects.toThrow('enough')
      await expect.poll(threads).toEqual([])
    })

    it('leave nothing running when the reader has enough, or the paths come to an error', async () => {
      const folder = await folderWith(Object.fromEntries(numbered(600).map((name) => [name, name])))
      for await (const some of readMany(folder, input(numbered(600)), ALL, threadAfter)) if (some.length > 0) break
      expect(threads()).toEqual([])
      async function* broken() {
        yield numbered(300)
        throw new Error('cannot list')
      }
      await expect(collect(readMany(folder, broken(), ALL, threadAfter))).rejects.toThrow('cannot list')
      expect(threads()).toEqual([])
    })
  })
}

describe('many files of the local environment', () => {
  it('are read by a thread when they are many, until the environment is closed', async () => {
    const folder = await folderWith(Object.fromEntries(numbered(900).map((name) => [name, name])))
    const environment = createLocalEnvironment({ cwd: folder, home: folder, outputDir: join(folder, 'out'), env: {} })
    let [count, most] = [0, 0]
    for await (const some of environment.readMany!(folder, input(numbered(900)), ALL)) {
      count += some.length
      most = Math.max(most, threads().length)
    }
    expect(count).toBe(900)
    expect(most).toBeGreaterThan(0)
    const reading = async () => {
      for await (const _ of environment.readMany!(folder, input(numbered(900)), ALL)) await environment.close()
    }
    await expect(reading()).rejects.toMatchObject({ code: 'environment.closed' })
    await expect.poll(threads).toEqual([])
  })

  it('are read where no thread may be started', async () => {
    const names = numbered(20)
    const folder = await folderWith(Object.fromEntries(names.map((name) => [name, name])))
    const module = new URL('./local-read-many.ts', import.meta.url).href
    const script = `
      import { readMany } from ${JSON.stringify(module)}
      const options = { maxBytes: 100, signal: new AbortController().signal }
      let count = 0
      for await (const some of readMany(${JSON.stringify(folder)}, [${JSON.stringify(names)}], options, 0)) count += some.length
      console.log(count)`
    const loader = new URL('../../../testkit/src/__fixtures__/load-sources.mjs', import.meta.url).href
    const flags = ['--permission', '--allow-fs-read=*', '--conditions=@hermes/source', `--import=${loader}`]
    const args = [...flags, '--input-type=module', '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    expect(stdout).toBe('20\n')
  })
})
