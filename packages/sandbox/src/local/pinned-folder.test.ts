import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { removePath, renamePath, writeAtomically } from './local-files.js'
import { readBytes } from './local-read.js'
import { pinFolder } from './pinned-folder.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 100)
const changed = expect.objectContaining({ code: 'environment.changed' })

async function setUp() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-held-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['mine', 'theirs']) await mkdir(join(folder, name))
  await writeFile(join(folder, 'mine', 'a'), 'mine')
  await writeFile(join(folder, 'theirs', 'a'), 'secret')
  return (name: string) => join(folder, name)
}

/** Lays a link to `theirs` in the place of `mine` and takes it away, as fast as it goes. */
async function flip(at: (name: string) => string): Promise<void> {
  const program = `
    const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
    const [mine, aside, theirs] = process.argv.slice(1)
    process.stdout.write('.')
    const attempt = (work) => { try { work() } catch {} }
    for (let count = 0; ; count++)
      try {
        renameSync(mine, aside)
        symlinkSync(theirs, mine)
        unlinkSync(mine)
        renameSync(aside, mine)
      } catch {
        // A write made the folder anew meanwhile.
        attempt(() => renameSync(mine, aside + count))
        attempt(() => renameSync(aside, mine))
      }`
  const child = spawn(process.execPath, ['-e', program, at('mine'), at('aside'), at('theirs')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
}

describe.runIf(process.platform === 'linux')('a folder that is held', () => {
  it('stays where it was when a link takes its place', async () => {
    const at = await setUp()
    await using folder = await pinFolder(at('mine'))
    await rename(at('mine'), at('aside'))
    await symlink('theirs', at('mine'))
    expect(await readFile(folder.at('a'), 'utf8')).toBe('mine')
    await expect(pinFolder(at('mine'))).rejects.toEqual(changed)
  })
})

describe.runIf(process.platform === 'linux')('a path without links', () => {
  const noLinks = { noLinks: true }

  it('leads nowhere else while somebody lays links on it', { timeout: 60_000 }, async () => {
    const at = await setUp()
    await flip(at)
    for (let run = 0; run < RUNS; run++) {
      const read = await readBytes(at('mine/a'), noLinks).catch(() => null)
      expect(read === null ? 'mine' : Buffer.from(read).toString('utf8')).toBe('mine')
      await writeAtomically(at('mine/new'), Buffer.from('x'), noLinks).catch(() => undefined)
      await renamePath(at('mine/a'), at('mine/b'), noLinks).catch(() => undefined)
      await renamePath(at('mine/b'), at('mine/a'), noLinks).catch(() => undefined)
      await removePath(at('mine/new'), noLinks).catch(() => undefined)
    }
    expect(await readdir(at('theirs'))).toEqual(['a'])
  })

  it('is told from one that was replaced by a file of its own', async () => {
    const at = await setUp()
    await writeAtomically(at('mine/a'), Buffer.from('new'), noLinks)
    expect(Buffer.from((await readBytes(at('mine/a'), noLinks))!).toString('utf8')).toBe('new')
    await symlink(at('theirs/a'), at('mine/b'))
    await expect(readBytes(at('mine/b'), noLinks)).rejects.toEqual(changed)
  })
})
