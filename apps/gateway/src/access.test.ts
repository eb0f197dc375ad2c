import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { checkAccess } from './access.js'
import { ApiError } from './api-error.js'
import { createPeerOf, type Peer } from './peer.js'

const NOTHING = { host: '127.0.0.1:1', origin: undefined, authorization: undefined, fetchSite: undefined }

const holderOf = () => undefined

async function outcome(
  more: { readonly host?: string; readonly origin?: string; readonly fetchSite?: string; readonly peer?: Peer },
  { key, corsOrigins = [] }: { readonly key?: string; readonly corsOrigins?: readonly string[] } = {},
): Promise<string> {
  const { peer = 'other', ...headers } = more
  const access =
    key === undefined ? ({ type: 'loopback', holderOf } as const) : ({ type: 'key', key, holderOf } as const)
  const authorization = key === undefined ? undefined : `Bearer ${key}`
  try {
    await checkAccess(access, { ...NOTHING, authorization, ...headers }, { peer: async () => peer, corsOrigins })
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
  [{ origin: 'http://127.0.0.1:1' }, 'passes'],
  [{ origin: 'https://evil.example' }, 'foreign_origin'],
  [{ host: 'evil.example:1', origin: 'http://evil.example:1' }, 'foreign_host'],
  [{ peer: 'isolated' }, 'isolated_client'],
  [{ peer: 'gone' }, 'isolated_client'],
] as const)('without a key, what comes with %j: %s', async (more, expected) => {
  expect(await outcome(more)).toBe(expected)
})

it.each([
  [{}, 'passes'],
  [{ host: 'hermes.example' }, 'passes'],
  [{ origin: 'http://127.0.0.1:1' }, 'passes'],
  [{ origin: 'https://chat.example' }, 'passes'],
  [{ origin: 'https://evil.example' }, 'foreign_origin'],
  [{ origin: 'null' }, 'foreign_origin'],
  // A page whose name was made to lead here.
  [{ host: 'evil.example:1', origin: 'http://evil.example:1' }, 'foreign_origin'],
] as const)('with its key, what comes with %j: %s', async (more, expected) => {
  expect(await outcome(more, { key: 'k'.repeat(32), corsOrigins: ['https://chat.example'] })).toBe(expected)
  expect(await outcome(more, { key: 'k'.repeat(32), corsOrigins: ['*'] })).toBe('passes')
})

/** A server on loopback that says who asks. */
async function whoAsks() {
  const peerOf = createPeerOf()
  const server = createServer(async (request, response) => response.end(await peerOf(request.socket)))
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

/** A `/proc` of so many processes, the oldest of which is the client at port 7. */
async function crowd(processes: number): Promise<string> {
  const proc = await mkdtemp(join(tmpdir(), 'hermes-proc-'))
  onTestFinished(() => rm(proc, { recursive: true }))
  const socket = `   0: 0100007F:0007 0100007F:0009 01 00000000:00000000 00:00000000 00000000  ${process.getuid?.()}        0 4711 1`
  const put = async (pid: string, fd: string) => {
    await mkdir(join(proc, pid, 'fd'), { recursive: true })
    await mkdir(join(proc, pid, 'ns'))
    await symlink('user:[1]', join(proc, pid, 'ns/user'))
    await symlink(fd, join(proc, pid, 'fd/3'))
  }
  await put('self', '/dev/null')
  await mkdir(join(proc, 'self/net'))
  await writeFile(join(proc, 'self/net/tcp'), `  sl  local_address\n${socket}\n`)
  await put('1', 'socket:[4711]')
  for (let pid = 2; pid <= processes; pid++) await put(String(pid), `socket:[${pid}]`)
  return proc
}

it('goes on with other work while it looks for a client among many processes', async () => {
  const peerOf = createPeerOf(await crowd(200))
  let turns = 0
  let isFound = false
  const found = peerOf({ localPort: 9, remotePort: 7 }).finally(() => (isFound = true))
  while (!isFound) {
    await new Promise((next) => setImmediate(next))
    turns++
  }
  expect(await found).toBe('other')
  expect(turns).toBeGreaterThan(20)
})

const WALL = ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--']
const isWalled = () => spawnSync('env', ['bwrap', ...WALL, 'true'], { stdio: 'ignore' }).status === 0

needs(isWalled() ? null : 'bubblewrap does not work here')('a sandbox', () => {
  it('gives a client away, however deep in it', async () => {
    const ask = await whoAsks()
    expect(await ask('env', 'bwrap', ...WALL, 'setsid', '--wait', 'env')).toBe('isolated')
  })
})
