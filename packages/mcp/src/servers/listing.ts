import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import type { DiscoverResult, Prompt, Tool } from '@modelcontextprotocol/client'
import type { ServerSettings } from '../settings/server-settings.js'

/** What a server offers, as it said last. */
export interface Listing {
  readonly atMs: number
  /** Which of the two protocols it speaks, so that nobody has to find out again. */
  readonly kind: 'modern' | 'legacy'
  readonly discover?: DiscoverResult
  readonly version: string
  /** Each of another name. */
  readonly tools: readonly Tool[]
  /** What it listed that is left out, each with why, for people. */
  readonly dropped: readonly string[]
  readonly prompts: readonly Prompt[]
  readonly hasResources: boolean
  /** The last secret that it asked a person for, which was declined unasked. */
  readonly secret?: { readonly field: string; readonly atMs: number }
  /** A hash of each tool as it was when the person had it first, or accepted it. */
  readonly accepted: Readonly<Record<string, string>>
}

const FORMAT = 1
const HASH_CHARS = 12

/** Tells a tool with other words, parameters or promises from what it was. */
export function toolHash({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string {
  // Without a description the title is what a model reads.
  const words = description?.trim() ? description : title || description
  const about = JSON.stringify([name, words, inputSchema, outputSchema, annotations])
  return createHash('sha256').update(about).digest('hex').slice(0, HASH_CHARS)
}

/** Which tools are others than those that were accepted. A new one is accepted as it comes. */
export function withAccepted(listing: Omit<Listing, 'accepted'>, before: Listing | null): Listing {
  const known = before?.accepted ?? {}
  const accepted = Object.fromEntries(listing.tools.map((tool) => [tool.name, known[tool.name] ?? toolHash(tool)]))
  // One that is gone for a while does not come back as somebody else.
  const { secret } = before ?? {}
  return { ...listing, ...(secret ? { secret } : {}), accepted: { ...known, ...accepted } }
}

/** The names of tools that changed since they were accepted. */
export function changedTools({ tools, accepted }: Listing): readonly string[] {
  return tools.filter((tool) => accepted[tool.name] !== toolHash(tool)).map(({ name }) => name)
}

/** What is known of a server from before. */
interface KeptListing {
  readonly listing: Listing | null
  /** Whether a home that ended waited for it in vain. */
  readonly isLate: boolean
}

const UNKNOWN: KeptListing = { listing: null, isLate: false }

/** Where listings are kept: a file for each program or address, so that a server of the same name and another program has none. */
export class ListingFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Nothing is known where there is no file that can be read. */
  async read(server: ServerSettings): Promise<KeptListing> {
    try {
      const kept: unknown = JSON.parse(await readFile(this.#path(server), 'utf8'))
      if (!isJsonObject(kept) || kept['format'] !== FORMAT) return UNKNOWN
      return { listing: (kept['listing'] ?? null) as Listing | null, isLate: kept['isLate'] === true }
    } catch {
      return UNKNOWN
    }
  }

  /** Takes the place of what was kept. */
  async write(server: ServerSettings, kept: Partial<KeptListing>): Promise<void> {
    await writePrivate(this.#path(server), JSON.stringify({ format: FORMAT, server: server.name, ...kept }))
  }

  #path({ name, identity }: ServerSettings): string {
    const about = createHash('sha256')
      .update(JSON.stringify([name, identity]))
      .digest('hex')
    return join(this.#directory, `${about.slice(0, 32)}.json`)
  }
}
