import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { checkAccess } from './access.js'
import { ApiError } from './api-error.js'
import { createPeerOf, type Peer } from './peer.js'

const NOTHING = { host: '127.0.0.1:1', origin: undefined, authorization: undefined, fetchSite: undefined }

function outcome(more: { readonly fetchSite?: string; readonly peer?: Peer }): string {
  try {
    checkAccess({ type: 'loopback' }, { ...NOTHING, fetchSite: more.fetchSite }, () => more.peer ?? 'other')
    return 'passes'
  } catch (error) {
    if (error instanceof ApiError) return (error.body as { error: { code: string } }).error.code
    throw error
  }
}

it.each([
  [{}, 'passes'],
  [{ fetchSite: 'none' }, 'passes'],
  [{ fetchSite: 'same-origin' }, 'passes'],
  [{ fetchSite: 'cross-site' }, 'foreign_origin'],
  [{ fetchSite: 'same-site' }, 'foreign_origin'],
  [{ peer: 'isolated' }, 'isolated_client'],
  [{ peer: 'gone' }, 'isolated_client'],
] as const)('without a key, what comes with %j: %s', (more, expected) => {
  expect(outcome(more)).toBe(expected)
})

/** A server on loopback that says who asks. */
async function whoAsks() {
  const peerOf = createPeerOf()
  const server = createServer((request, response) => response.end(peerOf(request.socket)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const code = `fetch('${url}').then((answer) => answer.text()).then((said) => process.stdout.write(said))`
  return async (program: string, ...args: readonly string[]) => {
    const child = spawn(program, [...args, process.execPath, '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    return text(child.stdout)
  }
}

it('takes a program of this machine for what it is', async () => {
  const ask = await whoAsks()
  expect(await ask('env')).toBe('other')
})

const WALL = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--']
const isWalled = () => spawnSync('env', ['bwrap', ...WALL, 'true'], { stdio: 'ignore' }).status === 0

needs(isWalled() ? null : 'bubblewrap does not work here')('a sandbox', () => {
  it('gives a client away, however deep in it', async () => {
    const ask = await whoAsks()
    expect(await ask('env', 'bwrap', ...WALL, 'setsid', '--wait', 'env')).toBe('isolated')
  })
})
