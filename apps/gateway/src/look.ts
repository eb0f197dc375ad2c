// `hermes gateway status` and `platforms`: what runs, and what would.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { defaultHome, homeLayout, loadSecrets } from '@hermes/config'
import { formatDuration, systemClock } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'
import { gatewayStates } from './gateway-state.js'
import { type ConfiguredPlatform, configuredPlatforms } from './platforms/open-platforms.js'
import { hearing } from './platforms/platform-health.js'
import { changePause } from './platforms/platform-pause.js'

const EXIT_NOT_WELL = 1

/** Shows the gateways that run; exit code 1 where none does, or one does not hear. */
export async function status(io: Io): Promise<number> {
  const nowMs = systemClock.now()
  const states = await gatewayStates(defaultHome(io), nowMs)
  if (states.length === 0) {
    io.stdout.write('No gateway runs on this home. Start one: hermes gateway run\n')
    return EXIT_NOT_WELL
  }
  let areWell = true
  for (const { pid, startedAtMs, address, model, isSafe, platforms, updatedAtMs } of states) {
    io.stdout.write(`Process ${pid}, for ${formatDuration(nowMs - startedAtMs)}: ${address}, model ${model}\n`)
    if (isSafe) {
      areWell = false
      io.stdout.write('  safe mode, after three starts that came to nothing: no plugins, hooks and MCP servers\n')
    }
    for (const platform of platforms) {
      // It tells every half minute; what it heard since stands in no file.
      const { hears, text } = hearing(platform, updatedAtMs)
      areWell &&= hears && platform.sending?.type !== 'broken'
      io.stdout.write(`  ${platform.name}: ${text}${platform.atWork > 0 ? `, ${platform.atWork} chats at work` : ''}\n`)
    }
  }
  return areWell ? 0 : EXIT_NOT_WELL
}

/** Shows which chat platforms a gateway would speak on. */
export async function platforms(io: Io): Promise<number> {
  const all = await withHome(io, async (_runtime, configured) => configured)
  for (const { name, access } of all) {
    const users =
      access.allowsAll || access.allowedUsers.has('*')
        ? 'everybody'
        : `${access.allowedUsers.size} users by list, and people of config.yaml`
    io.stdout.write(`${name}: ${users}; strangers get ${access.strangers === 'pair' ? 'a pairing code' : 'no word'}\n`)
  }
  if (all.length === 0)
    io.stdout.write(
      'No chat platform has an account. Give one to Telegram, email or the platform of a plugin: hermes gateway setup telegram|email|NAME\n',
    )
  return 0
}

/** Has a platform rest or go on, for gateways that run now and later; exit code 1 where that is no platform of the home. */
export async function pause(io: Io, words: readonly string[]): Promise<number> {
  if (words.join() === 'list') return platforms(io)
  return withHome(io, async (runtime, configured) => {
    const names = configured.map(({ name }) => name)
    const { meta } = await runtime.storage()
    const { isDone, text } = await changePause(meta, systemClock, { words: words.join(' '), names, from: null })
    if (isDone) io.stdout.write(`${text}\n`)
    else io.stderr.write(`hermes gateway platforms: ${text}\n`)
    return isDone ? 0 : EXIT_NOT_WELL
  })
}

/** Opens the home for one piece of work: extensions may bring platforms. */
async function withHome<T>(
  io: Io,
  work: (runtime: Runtime, configured: readonly ConfiguredPlatform[]) => Promise<T>,
): Promise<T> {
  const { openHome } = await import('@hermes/runtime')
  const { home, runtime } = await openHome(io, { program: 'hermes gateway', log: 'gateway.log', cwd: io.cwd })
  try {
    const { values } = await loadSecrets({ home, env: io.env })
    return await work(runtime, configuredPlatforms(runtime.config, values, runtime.chatPlatforms))
  } finally {
    await runtime.close()
  }
}

const LOG_LINES = 50
const TAIL_BYTES = 64 * 1024

/** Shows the newest lines of the log; `hermes logs gateway` finds more in it. */
export async function logs(io: Io): Promise<number> {
  const file = join(homeLayout(defaultHome(io)).logs, 'gateway.log')
  const handle = await open(file).catch(() => null)
  if (!handle) {
    io.stderr.write(`hermes gateway: There is no log yet: ${file}\n`)
    return EXIT_NOT_WELL
  }
  const { size } = await handle.stat()
  const { buffer, bytesRead } = await handle.read(
    Buffer.alloc(TAIL_BYTES),
    0,
    TAIL_BYTES,
    Math.max(0, size - TAIL_BYTES),
  )
  await handle.close()
  const lines = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n')
  io.stdout.write(`${lines.slice(-LOG_LINES).join('\n')}\n`)
  return 0
}
