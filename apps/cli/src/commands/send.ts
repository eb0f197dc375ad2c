import { randomUUID } from 'node:crypto'
import { systemClock } from '@hermes/contracts'
import { deliver, formatTarget, HOME_CHAT, type Outgoing, parseAddress } from '@hermes/platform'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withRuntime } from '../open-cli.js'

/** `hermes send TARGET TEXT`: puts a message into the outbox, and waits a moment for the gateway to send it. Exit code 1 when it was refused. */
export async function send(
  io: Io,
  address: string,
  text: string,
  { wait }: { readonly wait: number },
): Promise<number> {
  const { platform, target } = parseAddress(address)
  if (text.trim() === '') throw new UsageError('There is nothing to send.')
  if (!(wait >= 0)) throw new UsageError('--wait takes seconds, 0 or more.')
  const body: Outgoing = { text, from: 'hermes send' }
  return withRuntime(io, async (runtime) => {
    const known = [
      ...new Set([...Object.keys(runtime.config.platforms), ...runtime.chatPlatforms.map(({ name }) => name)]),
    ]
    if (!known.includes(platform))
      throw new UsageError(`No gateway reaches ${platform}. Platforms: ${known.join(', ')}.`)
    const { outbox, meta } = await runtime.storage()
    const to = target === null ? await meta.get(`${HOME_CHAT}${platform}`) : formatTarget(target)
    if (to === null)
      throw new UsageError(`Which chat? Write ${platform}:CHAT, or type /sethome in the one that news should go to.`)
    const message = { key: `send:${randomUUID()}`, platform, target: to, body: { ...body } as never }
    const delivery = await deliver(message, { outbox, waitMs: wait * 1_000, clock: systemClock })
    switch (delivery.type) {
      case 'sent':
        io.stdout.write('Sent.\n')
        return EXIT.ok
      case 'failed':
        io.stderr.write(`It was refused: ${delivery.error}\n`)
        return EXIT.failed
      case 'queued':
        io.stdout.write('It waits in the outbox; a gateway that runs sends it: hermes gateway run\n')
        return EXIT.ok
      default:
        return delivery satisfies never
    }
  })
}
