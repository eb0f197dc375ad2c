// Chats of a gateway on a real home: Telegram's Bot API, the store and the model server are real ones on loopback.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { createSessionHost, type SessionHost, unattendedMode } from '@hermes/host'
import { type ChatVariables, openRuntime, type Runtime } from '@hermes/runtime'
import type { Storage } from '@hermes/storage'
import { type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { type BotApiServer, startBotApiServer } from '@hermes/testkit/chats'
import { onTestFinished } from 'vitest'
import { configuredPlatforms } from '../platforms/open-platforms.js'
import { fileNotes } from '../platforms/outgoing-files.js'
import type { PlatformReport } from '../platforms/platform-health.js'
import { runPlatforms } from '../platforms/run-platforms.js'

const BASE = {
  auxiliary: { session_summary: { enabled: false }, title_generation: { enabled: false } },
  terminal: { isolation: 'off' },
  memory: { flush_min_turns: 0 },
  people: { owner: { telegram: ['7'] } },
}

/** A home with a bot and a model. */
export interface ChatStage {
  readonly bot: BotApiServer
  readonly server: ModelServer
  readonly home: string
  readonly work: string
  /** Starts a gateway on the home, in place of the one before. */
  start(): Promise<Gateway>
}

/** A gateway that runs. */
interface Gateway {
  readonly storage: Storage
  readonly host: SessionHost
  reports(): readonly PlatformReport[]
  /** As a signal ends it. */
  stop(): Promise<void>
}

/** Makes one; it goes when the test ends. `seen`: the store as chats see it, where it is not what it is. `brought`: extensions of others. */
export async function chatStage(
  config: object = {},
  telegram: object = {},
  seen: (storage: Storage) => Storage = (storage) => storage,
  variables: ChatVariables = {},
  brought: readonly Extension[] = [],
): Promise<ChatStage> {
  const [server, bot, temporary] = [await startModelServer(), await startBotApiServer(), await temporaryHome()]
  const path = (...names: readonly string[]) => join(temporary.path, ...names)
  const [home, work] = [path('home/.hermes'), path('work')]
  for (const folder of [home, work]) await mkdir(folder, { recursive: true })
  const platforms = { telegram: { token: bot.token, base_url: bot.url, ...telegram } }
  await writeFile(
    join(home, 'config.yaml'),
    JSON.stringify({ ...BASE, streaming: { enabled: false }, platforms, ...config }),
  )
  let running: Gateway | null = null
  const start = async (): Promise<Gateway> => {
    await running?.stop()
    const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }
    const notes = fileNotes(async () => (await runtime.storage()).meta)
    const runtime: Runtime = await openRuntime({
      extensions: (builtIn) => [...builtIn, notes, ...brought],
      home,
      userHome: path('home'),
      env,
      cwd: work,
      user: 'ada',
      tempDir: temporary.path,
    })
    const host = createSessionHost({ runtime, idleMs: 60_000 })
    const request = {
      baseUrl: server.baseUrl,
      model: 'm',
      cwd: work,
      permissions: unattendedMode('gateway', runtime.config.approvals),
      answersQuestions: 'later',
    } as const
    const chatting: Runtime = { ...runtime, storage: async () => seen(await runtime.storage()) }
    const options = { home, userHome: path('home'), runtime: chatting, host, request, variables, logger: silentLogger }
    const chats = await runPlatforms(configuredPlatforms(runtime.config, {}, runtime.chatPlatforms), options).catch(async (error: unknown) => {
      await host.close('server_stop')
      await runtime.close()
      throw error
    })
    const storage = await runtime.storage()
    const stop = async () => {
      running = null
      await chats.drain(AbortSignal.timeout(20))
      await host.close('server_stop')
      await chats.close()
      await runtime.close()
    }
    running = { storage, host, reports: chats.reports, stop }
    return running
  }
  onTestFinished(async () => {
    await running?.stop()
    await server.close()
    await bot.close()
    await temporary.remove()
  })
  return { bot, server, home, work, start }
}
