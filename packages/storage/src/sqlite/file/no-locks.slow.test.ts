// A store on a file system without locks: every lock of the processes here is refused, as on network and user file systems that have none.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildFaults, faultsMissing } from '../../__fixtures__/faults.js'
import { startScript } from '../../__fixtures__/run-writer.js'
import { temporaryPath } from '../../__fixtures__/temporary-store.js'
import { openBackups, openStorage } from '../../index.js'

const { ENOLCK, EOPNOTSUPP, EINVAL } = constants.errno

needs(faultsMissing())('a store where files cannot be locked', () => {
  let folder = ''
  let preload = { LD_PRELOAD: '' }
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hermes-no-locks-'))
    preload = buildFaults(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const start = (path: string, action: string, errno = ENOLCK) =>
    startScript('without-locks.mjs', [path, action], { ...preload, FAULT_LOCKS: `${errno}` })
  const run = async (path: string, action: string, errno?: number) => {
    const script = start(path, action, errno)
    await script.ended
    return script.lines
  }
  const notice = expect.stringMatching(/^notice The file system of .* has no locks: one Hermes at a time can use/)

  it.each([
    ['ENOLCK', ENOLCK],
    ['EOPNOTSUPP', EOPNOTSUPP],
    ['EINVAL', EINVAL],
  ])('works for one process, which says so once: %s', async (_, errno) => {
    const path = temporaryPath()
    expect(await run(path, 'converse', errno)).toEqual([notice, 'found 3', 'inside 3', 'sound', 'closed'])
    expect(readdirSync(join(path, '..'))).toEqual(['state.db'])
    expect(await run(path, 'converse', errno)).toEqual([notice, 'found 6', 'inside 6', 'sound', 'closed'])
  })

  it('goes on with what a write-ahead log holds from where there were locks', async () => {
    const path = temporaryPath()
    const store = await openStorage({ path })
    await store.sessions.create({ id: 's', source: 'cli' })
    await store.close()
    const again = startScript('append-loop.mjs', [path, 's', '0'])
    await again.printed(20)
    again.process.kill('SIGKILL')
    await again.ended
    const promised = again.lines.filter((line) => /^\d/.test(line)).length
    expect(existsSync(`${path}-wal`)).toBe(true)
    const [first, count] = await run(path, 'count')
    expect(first).toEqual(notice)
    expect(Number(count!.split(' ')[1])).toBeGreaterThanOrEqual(promised)
  })

  it('is for one process at a time; others are told so in one line, and have their turn after a kill', async () => {
    const path = temporaryPath()
    const first = start(path, 'hold')
    await first.printed(2)
    expect(await run(path, 'converse')).toEqual([
      expect.stringMatching(
        /^store\.in_use .*state\.db is open in process \d+@.*so one Hermes at a time can use it; end the other one\.$/,
      ),
    ])
    expect(await run(path, 'backup')).toEqual([expect.stringMatching(/^store\.in_use /)])
    first.process.kill('SIGKILL')
    await first.ended
    expect((await run(path, 'converse')).slice(0, 2)).toEqual([notice, 'found 4'])
  })

  it('does not write once another process has taken it', async () => {
    const path = temporaryPath()
    expect(await run(path, 'robbed')).toEqual([notice, expect.stringMatching(/^store\.in_use .*7@elsewhere/)])
  })

  it('loses nothing it promised to a kill', async () => {
    const path = temporaryPath()
    await run(path, 'converse')
    const promised: string[] = []
    for (let kill = 0; kill < 3; kill++) {
      const writer = start(path, 'append')
      await writer.printed(3 + kill * 10)
      writer.process.kill('SIGKILL')
      await writer.ended
      promised.push(...writer.lines.filter((line) => /^\d+$/.test(line)))
    }
    const store = await openStorage({ path })
    const seqs = new Set((await store.log.entries('s')).map(({ seq }) => `${seq}`))
    expect(promised.filter((seq) => !seqs.has(seq))).toEqual([])
    expect(promised.length).toBeGreaterThan(20)
    expect(await store.maintenance.check()).toEqual([])
    await store.close()
  })

  it('is backed up, also by the process that has it open, and gone back to', async () => {
    const path = temporaryPath()
    expect(await run(path, 'talk-and-backup')).toEqual([notice, 'found 3', 'backed up 3'])
    await run(path, 'converse')
    expect(await run(path, 'restore')).toEqual(['restored 3'])
    expect(await run(path, 'count')).toEqual([notice, 'count 3'])
    const backups = await openBackups({ path, directory: join(path, '..', 'backups') }).list()
    expect(backups).toHaveLength(2)
  })
})
