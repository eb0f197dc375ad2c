// The process of one plugin: sets its extension up, says what it registered, and does what it is called for.
// It runs under Node's permissions, without variables, and reaches everything else through calls to Hermes.
import { AsyncLocalStorage } from 'node:async_hooks'
import { StringDecoder } from 'node:string_decoder'
import type { ExtensionApi } from '@hermes/contracts/extension'
import type { StartMessage } from '../listing.js'
import { Channel } from './channel.js'
import { Registrations } from './registrations.js'
import { remoteFetch } from './remote-world.js'

/** Where this code is, for the process that runs it. */
export const childModule: string = import.meta.url

/** Runs until the other end is gone. */
export function runChild(): void {
  const write = process.stdout.write.bind(process.stdout)
  // Standard output carries the calls; what a plugin prints is for the log.
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
  for (const name of Object.keys(process.env)) delete process.env[name]
  const calls = new AsyncLocalStorage<number>()
  const channel = new Channel({
    write: (line) => void write(line),
    serve: (method, params, { id, signal }) => {
      if (method === 'start') return start(params as StartMessage)
      const { key, args } = params as { readonly key: string; readonly args: unknown }
      return calls.run(id, () => registrations.run(key, args, signal))
    },
    onNotice: (method) => void (method === 'ping' && channel.notify('pong', null)),
  })
  const world = { channel, currentCall: () => calls.getStore() ?? null }
  const registrations = new Registrations(world)
  globalThis.fetch = remoteFetch(world)

  async function start({ module, data, secrets, config }: StartMessage) {
    Object.assign(process.env, secrets, { PLUGIN_DATA: data })
    const { default: extension } = (await import(module)) as {
      readonly default?: { readonly name?: unknown; setup?(api: ExtensionApi): unknown }
    }
    if (typeof extension?.name !== 'string' || typeof extension.setup !== 'function')
      throw new TypeError('its default export is no extension, { name, setup }')
    await registrations.setUp((api) => extension.setup!(api), config)
    return registrations.listing()
  }

  const decoder = new StringDecoder('utf8')
  let rest = ''
  process.stdin.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) channel.take(line)
  })
  process.stdin.on('end', () => process.exit(0))
  process.on('unhandledRejection', (reason) =>
    process.stderr.write(`A promise of the plugin was rejected: ${String(reason)}\n`),
  )
}
