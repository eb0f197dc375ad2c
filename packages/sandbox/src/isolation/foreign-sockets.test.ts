import { readdirSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { ForeignSockets } from './foreign-sockets.js'

/** A folder, and a way to bind a socket in it. */
async function setup() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hermes-sockets-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const bind = async (name: string) => {
    const server = createServer()
    const path = join(folder, name)
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())))
    return path
  }
  const read = () => new Map([[folder, readdirSync(folder, { withFileTypes: true })]])
  const find = (temp = read()) =>
    new ForeignSockets().find(
      temp,
      (path) => path !== folder,
      () => true,
      null,
    )
  return { folder, bind, read, find }
}

needs(process.platform === 'linux' ? null : 'Linux has the table of sockets')('the sockets of others', () => {
  it('are those that lie in a folder, and those that were bound since it was read', async () => {
    const { bind, read, find } = await setup()
    const before = await bind('before')
    const temp = read()
    const later = await bind('later')
    expect([...find(temp)].sort()).toEqual([before, later])
  })

  it('are none that are gone, although the table names them still', async () => {
    const { bind, find } = await setup()
    await rm(await bind('gone'))
    expect(find()).toEqual([])
  })
})
