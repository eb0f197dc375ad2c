import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { expect, it, onTestFinished } from 'vitest'
import { ProgramHost } from './program-host.js'
import { RemoteFiles } from './remote-files.js'

/** A way to a shell of this machine that may damage what is sent. */
class Way extends ProgramHost {
  readonly backend = 'far'
  readonly name = 'the remote host'
  readonly isolated = false
  damage = (bytes: Uint8Array): Uint8Array => bytes

  async connect(): Promise<void> {}
  client(line: string) {
    return { program: '/bin/sh', args: ['-c', line], env: { PATH: '/usr/bin:/bin' } }
  }
  override converse(script: string, input: Uint8Array) {
    return super.converse(script, this.damage(input))
  }
  failure(): HermesError {
    return new HermesError('It broke.', { code: 'environment.connection_lost' })
  }
  async close(): Promise<void> {}
}

it.each([
  ['other bytes', (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1), 'environment.damaged'],
  ['fewer bytes', (bytes: Uint8Array) => bytes.subarray(1), 'environment.connection_lost'],
])('leaves a file as it was when %s arrive than were sent', async (_, damage, code) => {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-far-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'a.txt')
  await writeFile(path, 'old\n')
  const way = new Way()
  const files = new RemoteFiles(way, process.platform === 'darwin' ? 'bsd' : 'gnu')
  await files.write(path, Buffer.from('new\n'))
  expect(await readFile(path, 'utf8')).toBe('new\n')
  way.damage = damage
  await expect(files.write(path, Buffer.from('newer\n'))).rejects.toMatchObject({ code })
  expect(await readFile(path, 'utf8')).toBe('new\n')
  expect(await readdir(folder)).toEqual(['a.txt'])
})
