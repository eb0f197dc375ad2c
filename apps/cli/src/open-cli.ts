import { join } from 'node:path'
import { defaultHome, homeLayout } from '@hermes/config'
import type { Logger } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { createFileLogger, openHome, type Runtime, type RuntimeOptions } from '@hermes/runtime'
import type { Storage } from '@hermes/storage'
import type { Io } from './io.js'

/** How a command opens the home; see {@link RuntimeOptions}. */
type OpenOptions = { readonly yolo: boolean } & Pick<
  RuntimeOptions,
  'trust' | 'acceptHooks' | 'safe' | 'ignoreRules' | 'maxCostUsd' | 'takesCommands'
>

/** The Hermes home this command works on. */
export function homeOf(io: Pick<Io, 'env' | 'userHome'>): string {
  return defaultHome({ env: io.env, userHome: io.userHome })
}

/** `hermes doctor` asks the chat platforms too, which the gateway knows. */
function chatCheck(io: Io, runtime: () => Runtime | null): Extension {
  return {
    name: 'chats',
    setup(api) {
      api.doctor.check({
        name: 'chat platforms',
        run: async ({ isOffline }) => {
          const opened = runtime()
          if (!opened) return []
          const { checkChats } = await import('@hermes/gateway')
          const fetchTo = (address: string) => opened.fetchTo(address)
          return checkChats({ home: homeOf(io), env: io.env, own: opened.chatPlatforms, fetchTo, isOffline })
        },
      })
    },
  }
}

/** Where a home's commands log. */
export function loggerOf(home: string): Logger {
  return createFileLogger(join(homeLayout(home).logs, 'agent.log'))
}

/** Opens the home for a command. */
export async function openCli(io: Io, options: OpenOptions): Promise<Runtime> {
  let runtime: Runtime | null = null
  const chats = chatCheck(io, () => runtime)
  const opened = await openHome(io, { program: 'hermes', extensions: (builtIn) => [...builtIn, chats], ...options })
  runtime = opened.runtime
  return opened.runtime
}

/** Opens the home for one piece of work. */
export async function withRuntime<T>(io: Io, work: (runtime: Runtime) => Promise<T>): Promise<T> {
  const runtime = await openCli(io, { yolo: false })
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

/** Opens the sessions of the home for one piece of work. */
export function withStorage<T>(io: Io, work: (storage: Storage) => Promise<T>): Promise<T> {
  return withRuntime(io, async (runtime) => work(await runtime.storage()))
}
