import { join } from 'node:path'
import { changeConfigList, loadConfig } from '@hermes/config'
import { systemClock } from '@hermes/contracts'
import { createPairings, type Pairings } from '@hermes/platform'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf } from '../open-cli.js'
import { printable } from '../render/style.js'

/** `hermes pairing list`: who waits, and who was let in. */
export async function listPairings(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  const platforms = await pairingsOf(io).list()
  const rows = platforms.flatMap(({ platform, pending, approved }) => [
    ...pending.map(({ userId, name, askedAtMs }) => ({ platform, state: 'waits', userId, name, atMs: askedAtMs })),
    ...approved.map(({ userId, name, approvedAtMs }) => ({
      platform,
      state: 'let in',
      userId,
      name,
      atMs: approvedAtMs,
    })),
  ])
  for (const row of rows) {
    const { platform, state, userId, name, atMs } = row
    const when = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')
    // Names are text from outside.
    const shown = printable(JSON.stringify(name))
    io.stdout.write(
      json ? `${JSON.stringify(row)}\n` : `${platform}  ${state.padEnd(6)}  ${userId}  ${shown}  ${when}\n`,
    )
  }
  if (rows.length === 0 && !json)
    io.stderr.write('Nobody waits, and nobody was let in. Who writes to the bot gets a code.\n')
  return EXIT.ok
}

/** `hermes pairing approve PLATFORM CODE`. */
export async function approvePairing(io: Io, platform: string, code: string): Promise<number> {
  const { userId, name } = await pairingsOf(io).approve(platform, code)
  io.stdout.write(`${printable(JSON.stringify(name))} (${platform}:${userId}) may talk to the agent from now on.\n`)
  io.stdout.write(`To make that you yourself: hermes pairing alias ${platform} ${userId} owner\n`)
  return EXIT.ok
}

/** `hermes pairing revoke PLATFORM USER`. Exit code 1 where they were not let in. */
export async function revokePairing(io: Io, platform: string, userId: string): Promise<number> {
  if (await pairingsOf(io).revoke(platform, userId)) {
    io.stdout.write(`${platform}:${userId} may not talk to the agent any more.\n`)
    return EXIT.ok
  }
  io.stderr.write(`${platform}:${userId} was not let in by a code. All who were: hermes pairing list\n`)
  return EXIT.failed
}

/** `hermes pairing clear-pending PLATFORM`. */
export async function clearPairings(io: Io, platform: string): Promise<number> {
  const count = await pairingsOf(io).clearPending(platform)
  io.stdout.write(`${count === 1 ? '1 code is' : `${count} codes are`} good for nothing any more.\n`)
  return EXIT.ok
}

/**
 * `hermes pairing alias PLATFORM USER PERSON`: from now on an id is that person of `people`, with one memory and sessions of their own wherever they
 * write from. Exit code 1 where it is somebody else's already.
 */
export async function aliasPairing(io: Io, platform: string, userId: string, person: string): Promise<number> {
  if (!/^[a-z][a-z0-9_-]*$/i.test(person))
    throw new UsageError(`"${printable(person)}" is no name of a person; write letters, digits, "_" and "-".`)
  const home = homeOf(io)
  const { config } = await loadConfig({ home, env: io.env })
  const [other] = Object.entries(config.people).find(([, ids]) => ids[platform]?.includes(userId)) ?? []
  if (other !== undefined && other !== person) {
    io.stderr.write(`${platform}:${printable(userId)} is ${other} already; see people in config.yaml.\n`)
    return EXIT.failed
  }
  const change = (ids: readonly unknown[]) => (ids.includes(userId) ? ids : [...ids, userId])
  await changeConfigList({ home, key: `people.${person}.${platform}`, change })
  io.stdout.write(`${platform}:${printable(userId)} is ${person} from the next start on: hermes gateway restart\n`)
  return EXIT.ok
}

function pairingsOf(io: Io): Pairings {
  return createPairings({ folder: join(homeOf(io), 'pairing'), clock: systemClock })
}
