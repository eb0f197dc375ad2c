import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seekLock, withLock, writePrivate } from './index.js'

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hermes-files-'))
  file = join(folder, 'inner', 'lock')
})
afterEach(() => rm(folder, { recursive: true }))

const busy = 'Somebody else is at it; try again.'
const engine = import.meta.resolve('better-sqlite3')
const LOCK = `import Database from ${JSON.stringify(engine)}
const database = new Database(process.argv[1], { timeout: 0 })
try { database.exec('BEGIN EXCLUSIVE'); console.log('had') } catch { console.log('refused') }`
const program = (then: string) => ['--input-type=module', '--eval', LOCK + then, file]
const tryElsewhere = () => execFileSync(process.execPath, program(''), { encoding: 'utf8' }).trim()

describe('a lock', () => {
  it('is for one caller, and free after it, also when its work fails', async () => {
    await withLock(file, { busy }, async () => {
      expect(tryElsewhere()).toBe('refused')
      const failure = { code: 'files.locked', message: busy, retryable: true }
      await expect(withLock(file, { busy, waitMs: 0 }, async () => 1)).rejects.toMatchObject(failure)
      // That another caller of this process looked at the file takes nothing from its holder.
      expect(tryElsewhere()).toBe('refused')
    })
    await expect(withLock(file, { busy }, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(tryElsewhere()).toBe('had')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'inner'))).mode & 0o777).toBe(0o700)
  })

  it('is handed over to each of many callers', async () => {
    let running = 0
    const turns = Array.from({ length: 8 }, () =>
      withLock(file, { busy }, async () => {
        expect(++running).toBe(1)
        await readdir(folder)
        running--
      }),
    )
    await Promise.all(turns)
  })

  it('ends with a process that is killed', async () => {
    await withLock(file, { busy }, async () => undefined)
    const holder = spawn(process.execPath, program('; setInterval(() => 0, 1000)'), {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    const seeker = await seekLock(file)
    expect(seeker.tryLock()).toBeNull()
    const waiting = withLock(file, { busy }, async () => 'mine')
    holder.kill('SIGKILL')
    expect(await waiting).toBe('mine')
    seeker.tryLock()!.release()
  })

  it('is not waited for after an abort', async () => {
    await withLock(file, { busy }, async () => {
      const aborted = withLock(file, { busy, signal: AbortSignal.abort() }, async () => 1)
      await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
    })
  })

  it('that cannot be made is an error of one line', async () => {
    await writeFile(join(folder, 'inner'), '')
    const line = expect.stringMatching(/^Cannot lock .*\/inner\/lock: .*\.$/)
    await expect(withLock(file, { busy }, async () => 1)).rejects.toMatchObject({
      code: 'files.not_writable',
      message: line,
    })
  })
})

describe('writePrivate', () => {
  const path = () => join(folder, 'inner', 'a.json')

  it('replaces a file whole, for its owner alone, and leaves nothing else', async () => {
    await writePrivate(path(), 'one')
    await chmod(path(), 0o644)
    await writePrivate(path(), 'two')
    expect(await readFile(path(), 'utf8')).toBe('two')
    expect((await stat(path())).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'inner'))).toEqual(['a.json'])
  })

  it('writes through links, also one that leads to nothing yet', async () => {
    for (const before of ['old', null]) {
      const target = join(folder, `target ${before}`)
      const link = join(folder, `link ${before}`)
      if (before !== null) await writeFile(target, before)
      await symlink(`target ${before}`, link)
      await writePrivate(link, 'new')
      expect((await lstat(link)).isSymbolicLink()).toBe(true)
      expect(await readFile(target, 'utf8')).toBe('new')
    }
  })

  it('says in a line what cannot be written, and leaves nothing behind', async () => {
    await writePrivate(join(path(), '..', 'b'), '')
    await expect(writePrivate(join(folder, 'inner'), 'x')).rejects.toMatchObject({
      code: 'files.not_writable',
      message: expect.stringMatching(/^Cannot write .*\/inner: .*\.$/),
    })
    expect(await readdir(folder)).toEqual(['inner'])
  })
})
