import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, silentLogger, systemClock } from '@hermes/contracts'
import { type DaytonaServer, startDaytonaServer } from '@hermes/testkit/clouds'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openDaytonaEnvironment } from '../daytona/open-daytona.js'
import { harness } from '../testing/harness.js'

needs(missingPrograms('setsid'))('folders in step with another side', () => {
  let server: DaytonaServer
  beforeAll(async () => {
    server = await startDaytonaServer()
  })
  afterAll(() => server.close())

  /** A folder here, one there, and environments that keep them the same. */
  async function folders({ readOnly = false } = {}) {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sync-')))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const [source, target] = [join(root, 'near'), join(root, 'far')]
    await mkdir(source)
    let ahead = 0
    const warnings: string[] = []
    const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) }
    const open = async () => {
      const { apiKey, apiUrl } = server
      const environment = await openDaytonaEnvironment({
        ...{ apiKey, apiUrl, target: 'us', task: root, outputDir: join(root, 'out'), cwd: target, logger },
        clock: { ...systemClock, now: () => Date.now() + ahead },
        folders: [{ source, target, readOnly }],
      })
      return { environment, dispose: () => environment.close() }
    }
    const write = async (path: string, text: string) => {
      await mkdir(join(source, path, '..'), { recursive: true })
      await writeFile(join(source, path), text)
      // Two contents of one size within one tick of the clock would look the same.
      await utimes(join(source, path), new Date(), new Date(Date.now() + ++ahead * 10))
    }
    const rest = () => {
      ahead += 5_000
    }
    return {
      source,
      target,
      warnings,
      write,
      rest,
      open: () => harness(open),
      read: (path: string) => readFile(join(source, path), 'utf8'),
    }
  }

  it('brings files over, with names of any kind, and takes over what changes here before commands', async () => {
    const { source, write, rest, open } = await folders()
    const names = [' edge ', "it's $HOME", 'deep/er/-n', 'empty', 'grüße']
    for (const name of names) await write(name, name === 'empty' ? '' : `content of ${name}`)
    await write('run.sh', '#!/bin/sh\necho ran')
    await chmod(join(source, 'run.sh'), 0o755)
    await write('node_modules/x/index.js', 'x')
    await symlink('/etc/hostname', join(source, 'link'))
    const { run, read } = await open()
    for (const name of names) expect(await read(name)).toBe(name === 'empty' ? '' : `content of ${name}`)
    expect((await run('./run.sh; ls -A')).output).toMatch(/^ran\n/)
    expect(await read('link')).toBeNull()
    expect(await read('node_modules/x/index.js')).toBeNull()
    await write('empty', 'no more')
    await rm(join(source, 'grüße'))
    rest()
    expect((await run('cat empty; ls grüße')).output).toMatch(/^no more.*No such file/)
  })

  it('brings back at the end what changed there, and only that', async () => {
    const { source, write, open, read } = await folders()
    for (const name of ['same', 'changed', 'removed', 'deep/changed']) await write(name, 'before')
    const before = await stat(join(source, 'same'))
    const { run, environment } = await open()
    await run(
      'echo after > changed; echo after > deep/changed; rm removed; mkdir new; echo new > "new/a b"; chmod +x "new/a b"',
    )
    await environment.close()
    expect([await read('changed'), await read('deep/changed'), await read('new/a b')]).toEqual([
      'after\n',
      'after\n',
      'new\n',
    ])
    expect((await stat(join(source, 'new/a b'))).mode & 0o100).toBe(0o100)
    expect((await readdir(source)).sort()).toEqual(['changed', 'deep', 'new', 'same'])
    expect((await stat(join(source, 'same'))).mtimeMs).toBe(before.mtimeMs)
  })

  it('keeps the file here where both changed, and puts the other one beside it', async () => {
    const { write, open, read, warnings } = await folders()
    await write('both', 'before')
    const first = await open()
    await first.run('echo there > both')
    await write('both', 'here')
    await first.environment.close()
    expect([await read('both'), await read('both.sandbox')]).toEqual(['here', 'there\n'])
    expect(warnings).toEqual(['A file changed on both sides; the other one is beside it.'])
    const second = await open()
    expect((await second.run('cat both both.sandbox')).output).toBe('herethere\n')
  })

  it('takes nothing out of its folder, no git folder, and nothing at all when it is read only', async () => {
    const { source, target, write, open, warnings } = await folders()
    await write('kept', 'before')
    await mkdir(join(source, '../outside'))
    const { run, environment } = await open()
    await symlink('../outside', join(source, 'way'))
    await run('mkdir -p way .git/hooks; echo evil > way/out; echo evil > .git/hooks/pre-commit')
    await environment.close()
    expect(await readdir(join(source, '../outside'))).toEqual([])
    expect((await readdir(source)).sort()).toEqual(['kept', 'way'])
    expect(warnings).toContain('A file leads out of its folder.')
    const still = await folders({ readOnly: true })
    await still.write('kept', 'before')
    const other = await still.open()
    await other.run('echo after > kept; echo new > new')
    await other.environment.close()
    expect([await still.read('kept'), await readdir(still.source)]).toEqual(['before', ['kept']])
    expect(target).not.toBe(still.target)
  })

  it('writes through no link, whatever is called like the file that is being made', async () => {
    const { source, write, open, read } = await folders()
    const outside = join(source, '../profile')
    await writeFile(outside, 'mine')
    await write('notes', 'before')
    await symlink('../profile', join(source, 'notes.hermes-sync'))
    const { run, environment } = await open()
    await run('echo evil > notes')
    await environment.close()
    expect([await readFile(outside, 'utf8'), await read('notes')]).toEqual(['mine', 'evil\n'])
    expect((await readdir(source)).sort()).toEqual(['notes', 'notes.hermes-sync'])
  })

  it('takes no git folder in other letters either, and keeps from others what was kept from them', async () => {
    const { source, write, open } = await folders()
    await write('secret', 'before')
    await chmod(join(source, 'secret'), 0o600)
    const { run, environment } = await open()
    await run(
      'mkdir .Git; echo evil > .Git/config; git=$(printf ".g\\342\\200\\214it"); mkdir "$git"; echo evil > "$git/config"',
    )
    await run('echo after > secret; chmod +x secret')
    await environment.close()
    expect(await readdir(source)).toEqual(['secret'])
    expect((await stat(join(source, 'secret'))).mode & 0o777).toBe(0o700)
  })

  it('says that a folder is missing', async () => {
    const { source, open } = await folders()
    await rm(source, { recursive: true })
    await expect(open()).rejects.toMatchObject({ code: 'environment.not_found' })
  })

  it('removes nothing here when the other side was lost, and brings all of it over again', async () => {
    const { source, target, write, open } = await folders()
    await write('a', 'a')
    const first = await open()
    await first.environment.close()
    await rm(target, { recursive: true })
    const second = await open()
    expect(await second.read('a')).toBe('a')
    await second.run('rm -rf ..?* .[!.]* *')
    await second.environment.close()
    expect(await readdir(source)).toEqual(['a'])
  })
})
