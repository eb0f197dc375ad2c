import { setConfigValue, unsetConfigValue } from '@hermes/config'
import { errorLine } from '@hermes/contracts'
import { storeFindings } from '@hermes/memory'
import type { Runtime } from '@hermes/runtime'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, openCli } from '../open-cli.js'

const TIMEOUT_MS = 10_000

/** What `hermes memory setup` may be told. */
interface ProviderFlags {
  readonly baseUrl?: string
  readonly userId?: string
  readonly embeddingUrl?: string
  readonly embeddingModel?: string
}

/** `hermes memory status`: the stores, and whether the provider can be used. Exit code 1 when it or a store cannot. */
export function memoryStatus(io: Io, { offline = false }: { readonly offline?: boolean }): Promise<number> {
  return withRuntime(io, async (runtime) => {
    const { longMemory } = runtime
    const stores = await storeFindings(runtime.memory)
    for (const { text } of stores) io.stdout.write(`${text}\n`)
    const exitCode = stores.some(({ level }) => level === 'fail') ? EXIT.failed : EXIT.ok
    if (!longMemory) {
      io.stdout.write('provider: none. Choose one with: hermes memory setup\n')
      return exitCode
    }
    try {
      const { address, userId } = await longMemory.describe()
      const whose = userId === null ? '' : `, memories of ${userId}`
      if (!offline) await longMemory.check({ signal: AbortSignal.timeout(TIMEOUT_MS) })
      io.stdout.write(`provider: ${longMemory.provider} at ${address}${whose}${offline ? '' : ': it answers'}\n`)
      return exitCode
    } catch (error) {
      io.stdout.write(`provider: ${longMemory.provider}: ${problem(error)}\n`)
      return EXIT.failed
    }
  })
}

/** `hermes memory setup PROVIDER`: asks the provider once, and keeps the choice when it answers. */
export function memorySetup(io: Io, name: string, flags: ProviderFlags): Promise<number> {
  const settings = {
    provider: name,
    ...(flags.baseUrl === undefined ? {} : { base_url: flags.baseUrl }),
    ...(flags.userId === undefined ? {} : { user_id: flags.userId }),
  }
  const embedding = {
    ...(flags.embeddingUrl === undefined ? {} : { base_url: flags.embeddingUrl }),
    ...(flags.embeddingModel === undefined ? {} : { model: flags.embeddingModel }),
  }
  return withRuntime(io, async (runtime) => {
    const provider = runtime.memoryProvider({ ...settings, embedding })
    await provider.check({ signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
      throw new UsageError(`${problem(error)} Nothing was changed.`)
    })
    const home = homeOf(io)
    // What belonged to another provider does not go with this one.
    for (const key of ['base_url', 'user_id', 'embedding']) await unsetConfigValue({ home, key: `memory.${key}` })
    for (const [key, value] of Object.entries(settings)) await setConfigValue({ home, key: `memory.${key}`, value })
    for (const [key, value] of Object.entries(embedding))
      await setConfigValue({ home, key: `memory.embedding.${key}`, value })
    io.stdout.write(`${name} answered. Conversations that begin now are remembered there too.\n`)
    return EXIT.ok
  })
}

/** `hermes memory off`: no provider any more; the two files stay. */
export async function memoryOff(io: Io): Promise<number> {
  await unsetConfigValue({ home: homeOf(io), key: 'memory.provider' })
  io.stdout.write('No provider is used any more. MEMORY.md and USER.md are still there.\n')
  return EXIT.ok
}

function problem(error: unknown): string {
  const line =
    (error as Error).name === 'TimeoutError' ? `It did not answer within ${TIMEOUT_MS / 1_000} s` : errorLine(error)
  return line.replace(/\.?$/, '.')
}

async function withRuntime(io: Io, work: (runtime: Runtime) => Promise<number>): Promise<number> {
  const runtime = await openCli(io, { yolo: false })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}
