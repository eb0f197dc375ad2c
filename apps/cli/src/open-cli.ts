import { join } from 'node:path'
import { defaultHome, homeLayout } from '@hermes/config'
import type { Logger } from '@hermes/contracts'
import { createFileLogger, openHome, type Runtime, type RuntimeOptions } from '@hermes/runtime'
import type { Storage } from '@hermes/storage'
import type { Io } from './io.js'

/** How a command opens the home; see {@link RuntimeOptions}. */
type OpenOptions = { readonly yolo: boolean } & Pick<
  RuntimeOptions,
  'trust' | 'acceptHooks' | 'safe' | 'ignoreRules' | 'maxCostUsd'
>

/** The Hermes home this command works on. */
export function homeOf(io: Pick<Io, 'env' | 'userHome'>): string {
  return defaultHome({ env: io.env, userHome: io.userHome })
}

/** Where a home's commands log. */
export function loggerOf(home: string): Logger {
  return createFileLogger(join(homeLayout(home).logs, 'agent.log'))
}

/** Opens the home for a command. */
export async function openCli(io: Io, options: OpenOptions): Promise<Runtime> {
  return (await openHome(io, { program: 'hermes', ...options })).runtime
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
