// What a plugin reaches beyond its own files: each is a call to Hermes, which asks the policy.
import { Buffer } from 'node:buffer'
import { isAbsolute, join, normalize } from 'node:path'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { RemotePlace } from '../listing.js'
import type { Channel } from './channel.js'

/** How the code of a plugin reaches Hermes. */
export interface World {
  readonly channel: Channel
  /** The call that is served right now; `null` outside of one. */
  readonly currentCall: () => number | null
}

/** A permit as the plugin has it: its number at the other end. */
interface RemotePermit {
  readonly action: Action
  readonly permitId: number
}

/** Asks for a permit on behalf of the call that is served. */
export async function remotePermit(world: World, action: Action, options: object = {}): Promise<Permit> {
  const permitId = (await world.channel.call('permit', { ref: world.currentCall(), action, options })) as number
  return { action, permitId } as unknown as Permit
}

/** Files and commands of the session, as far as a plugin reaches them. */
export function remoteEnvironment(world: World, place: RemotePlace): Environment {
  const ref = world.currentCall()
  const call = (op: string, params: object = {}, signal?: AbortSignal) =>
    world.channel.call('environment', { ref, op, ...params }, signal)
  const permitId = (permit: Permit) => (permit as unknown as RemotePermit).permitId
  const missing = (name: string) => () => {
    throw new Error(`A plugin that runs apart has no environment.${name}; use exec.`)
  }
  return {
    backend: place.backend,
    capabilities: { background: false, pty: false, isolated: false },
    ...(place.root === null ? {} : { root: place.root }),
    cwd: () => place.cwd,
    resolve: (path) => {
      const full = path.replace(/^~(?=$|\/)/, () => place.userHome)
      return isAbsolute(full) ? normalize(full) : join(place.cwd, full)
    },
    read: async (path, { offset, length } = {}) => {
      const text = (await call('read', { path, offset, length })) as string | null
      return text === null ? null : new Uint8Array(Buffer.from(text, 'base64'))
    },
    stat: async (path) => (await call('stat', { path })) as Awaited<ReturnType<Environment['stat']>>,
    list: async (path) => (await call('list', { path })) as Awaited<ReturnType<Environment['list']>>,
    realpath: async (path) => (await call('realpath', { path })) as string,
    write: async (permit, path, bytes, options = {}) =>
      (await call('write', {
        permit: permitId(permit),
        path,
        bytes: Buffer.from(bytes).toString('base64'),
        options,
      })) as Awaited<ReturnType<Environment['write']>>,
    mkdir: async (permit, path) => void (await call('mkdir', { permit: permitId(permit), path })),
    rename: async (permit, from, to) => void (await call('rename', { permit: permitId(permit), path: from, to })),
    remove: async (permit, path) => void (await call('remove', { permit: permitId(permit), path })),
    exec: async (permit, command, { signal, onOutput: _, yieldSignal: __, ...options } = {}) =>
      (await call('exec', { permit: permitId(permit), command, options }, signal)) as Awaited<
        ReturnType<Environment['exec']>
      >,
    spawn: missing('spawn'),
    processes: () => [],
    probe: missing('probe'),
    close: async () => undefined,
  }
}

/** `fetch` by way of Hermes: policy, declared hosts and proxies count. Bodies are sent and come whole, 20 MB at most. */
export function remoteFetch(world: World): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer()).toString('base64')
    const answer = (await world.channel.call(
      'fetch',
      {
        ref: world.currentCall(),
        url: request.url,
        method: request.method,
        headers: [...request.headers],
        body,
      },
      request.signal,
    )) as {
      readonly status: number
      readonly statusText: string
      readonly headers: [string, string][]
      readonly body: string
    }
    const { status, statusText, headers } = answer
    const isEmpty = status === 204 || status === 205 || status === 304
    return new Response(isEmpty ? null : Buffer.from(answer.body, 'base64'), { status, statusText, headers })
  }
}
