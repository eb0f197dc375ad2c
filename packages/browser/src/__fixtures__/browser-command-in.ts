import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import type { Command, CommandResult, ExtensionApi } from '@hermes/contracts/extension'
import type { BrowserOptions } from '../browser-options.js'
import { browserCommand } from '../commands/browser-command.js'
import type { BrowserScene } from './scene.js'

/** What `/browser` and a word give in a scene, for somebody who is not root. */
export async function browserCommandIn(
  { sessions, folder, settings }: Pick<BrowserScene, 'sessions' | 'folder' | 'settings'>,
  word: string,
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<Command>()
  const options = {
    ...{ env: process.env, isRoot: false, clock: systemClock },
    ...{ cacheDir: join(folder, 'cache'), recordingDir: join(folder, 'recordings') },
  }
  const api = { commands: { add: resolve } } as unknown as ExtensionApi
  browserCommand(api, { sessions, options: options as BrowserOptions, settings: () => settings })
  return (await promise).run({ words: [word] }, {} as never)
}
