import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'
import type { OAuthTokens, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import type { ServerSettings } from '../settings/server-settings.js'

/** A login at one server, and where it was had: its tokens go nowhere else. */
export interface Login {
  readonly authorizationServer: string
  readonly client: StoredOAuthClientInformation
  readonly tokens: OAuthTokens
  /** What the tokens are for, as the server calls itself. */
  readonly resource: string | null
  /** Rights that a request lacked: the next login is for them too. */
  readonly wanted?: string
  /** Unix milliseconds; `null` where nobody says. */
  readonly expiresAtMs: number | null
}

const FORMAT = 1
/** Longer than a renewal may take. */
const LOCK_WAIT_MS = 60_000

/** Where logins are kept: a file for each address, readable by its owner alone. */
export class LoginFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** `null` when there is none that can be read. */
  async read(server: ServerSettings): Promise<Login | null> {
    try {
      const kept: unknown = JSON.parse(await readFile(this.#path(server), 'utf8'))
      return isJsonObject(kept) && kept['format'] === FORMAT ? (kept['login'] as unknown as Login) : null
    } catch {
      return null
    }
  }

  /** @throws HermesError `files.not_writable` */
  async write(server: ServerSettings, login: Login): Promise<void> {
    await writePrivate(this.#path(server), JSON.stringify({ format: FORMAT, server: server.name, login }))
  }

  /** `false` when there was none. */
  async remove(server: ServerSettings): Promise<boolean> {
    if (!(await this.read(server))) return false
    await rm(this.#path(server), { force: true })
    return true
  }

  /** Alone among all processes of the home. Rejects with `files.locked` after a minute, and as `work` does. */
  alone<T>(server: ServerSettings, work: () => Promise<T>): Promise<T> {
    const busy = `Another process is renewing the login of the MCP server ${server.name}; try again.`
    return withLock(`${this.#path(server)}.lock`, { busy, waitMs: LOCK_WAIT_MS }, work)
  }

  #path({ name, address }: ServerSettings): string {
    const url = address.type === 'http' ? address.url : ''
    const about = createHash('sha256')
      .update(JSON.stringify([name, url]))
      .digest('hex')
    return join(this.#directory, `${about.slice(0, 32)}.json`)
  }
}
