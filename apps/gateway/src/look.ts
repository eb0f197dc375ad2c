// `hermes gateway status` and `platforms`: what runs, and what would.
import { defaultHome, loadConfig, loadSecrets } from '@hermes/config'
import { formatDuration, systemClock } from '@hermes/contracts'
import type { Io } from '@hermes/runtime/app'
import { endProcess, gatewayStates, hearing } from './gateway-state.js'
import { configuredPlatforms } from './platforms/open-platforms.js'

const EXIT_NOT_WELL = 1
const STOPS_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 100

/** Shows the gateways that run; exit code 1 where none does, or one does not hear. */
export async function status(io: Io): Promise<number> {
  const nowMs = systemClock.now()
  const states = await gatewayStates(defaultHome(io), nowMs)
  if (states.length === 0) {
    io.stdout.write('No gateway runs on this home. Start one: hermes gateway run\n')
    return EXIT_NOT_WELL
  }
  let areWell = true
  for (const { pid, startedAtMs, address, model, platforms, updatedAtMs } of states) {
    io.stdout.write(`Process ${pid}, for ${formatDuration(nowMs - startedAtMs)}: ${address}, model ${model}\n`)
    for (const platform of platforms) {
      // It tells every half minute; what it heard since stands in no file.
      const { hears, text } = hearing(platform, updatedAtMs)
      areWell &&= hears
      io.stdout.write(`  ${platform.name}: ${text}${platform.atWork > 0 ? `, ${platform.atWork} chats at work` : ''}\n`)
    }
  }
  return areWell ? 0 : EXIT_NOT_WELL
}

/** Ends the gateways of the home and waits for their end; exit code 1 where one goes on. */
export async function stop(io: Io): Promise<number> {
  const home = defaultHome(io)
  const running = await gatewayStates(home, systemClock.now())
  for (const { pid } of running) endProcess(pid)
  const untilMs = systemClock.now() + STOPS_WITHIN_MS
  while (systemClock.now() < untilMs && (await gatewayStates(home, systemClock.now())).length > 0)
    await systemClock.sleep(LOOK_EVERY_MS)
  const left = await gatewayStates(home, systemClock.now())
  for (const { pid } of left) io.stderr.write(`Process ${pid} has not ended yet; it finishes what it does.\n`)
  io.stdout.write(
    running.length === 0 ? 'No gateway runs on this home.\n' : `Stopped: ${running.length - left.length}.\n`,
  )
  return left.length === 0 ? 0 : EXIT_NOT_WELL
}

/** Shows which chat platforms a gateway would speak on. */
export async function platforms(io: Io): Promise<number> {
  const home = defaultHome(io)
  const [{ config }, { values }] = await Promise.all([
    loadConfig({ home, env: io.env }),
    loadSecrets({ home, env: io.env }),
  ])
  const all = configuredPlatforms(config, values)
  for (const { name, access } of all) {
    const users =
      access.allowsAll || access.allowedUsers.has('*')
        ? 'everybody'
        : `${access.allowedUsers.size} users by list, and people of config.yaml`
    io.stdout.write(`${name}: ${users}; strangers get ${access.strangers === 'pair' ? 'a pairing code' : 'no word'}\n`)
  }
  if (all.length === 0)
    io.stdout.write(
      'No chat platform has an account. For Telegram put TELEGRAM_BOT_TOKEN=… of @BotFather into .env of the home.\n',
    )
  return 0
}
