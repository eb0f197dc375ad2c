// Who is who: ids of chats, mail and keys come to persons, and a person to a folder.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { HermesConfig } from '@hermes/config'
import { homeLayout } from '@hermes/config'

/** In config.yaml, the person at this machine. */
const OWNER = 'owner'
/** Where nobody else can be. */
const AT_THIS_MACHINE: ReadonlySet<string> = new Set(['cli', 'oneshot', 'acp', 'embedded', 'cron'])
/** Where a person is known by a key, which the entry point has checked: `user` is their name. */
const BY_KEY = 'gateway'
const KEY = 'key'
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._ -]{0,63}$/u
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/
const PLAIN_FOLDER = /^[a-z0-9][a-z0-9_-]{0,47}$/
const GROUP = 'group:'

/** Who speaks, and where. */
interface Speaker {
  readonly platform: string
  /** The id of the platform; at the gateway the name of the person whose key was sent. Absent: the owner, where nobody else can be. */
  readonly user?: string | undefined
  /** The chat, as the platform calls it. */
  readonly chatKey?: string | undefined
  /** Several people are in the chat: what is said there belongs to the group. */
  readonly isGroup?: boolean | undefined
}

/** The people of a home, as config.yaml has them. */
export interface People {
  /** What is wrong with `people`, a line each. No line shows a key. */
  readonly problems: readonly string[]
  /** Whose a session is that they begin, and what they may find: `null` for the owner of the home. An id that nobody has is a person of its own. */
  personOf(speaker: Speaker): string | null
  /** Whether anybody has an API key of their own. */
  readonly hasKeys: boolean
  /** Who has this API key; `undefined` for nobody. */
  holderOf(key: string): { readonly person: string | null } | undefined
}

/** @see docs/people.md */
export function readPeople(config: Pick<HermesConfig, 'people'>): People {
  const problems: string[] = []
  const holders = new Map<string, string | null>()
  for (const [name, ids] of Object.entries(config.people)) {
    if (!NAME.test(name)) {
      problems.push(
        `people: ${JSON.stringify(name)} is no name; use letters, digits, blanks, ".", "_" and "-". It is left out.`,
      )
      continue
    }
    for (const [platform, ofPlatform] of Object.entries(ids)) {
      for (const id of ofPlatform) {
        if (platform === KEY && !FINGERPRINT.test(id)) {
          problems.push(
            `people.${name}.key: an entry is no "sha256:" with 64 hex digits. See docs/people.md for how to make one.`,
          )
          continue
        }
        const known = idKey(platform, id)
        const person = name === OWNER ? null : name
        if (holders.has(known) && holders.get(known) !== person) {
          problems.push(`people.${name}.${platform}: an id stands with another person too; it counts for neither.`)
          // Of whom it is cannot be said, so it must open neither's memory.
          holders.set(known, `${platform}:${fingerprint(id)}`)
        } else holders.set(known, person)
      }
    }
  }
  const isHolder = (id: string) => id.startsWith(`["${KEY}"`) && !holders.get(id)?.startsWith(`${KEY}:`)
  return {
    problems,
    hasKeys: [...holders.keys()].some(isHolder),
    personOf: ({ platform, user, chatKey, isGroup }) => {
      if (AT_THIS_MACHINE.has(platform)) return null
      if (isGroup) return `${GROUP}${platform}:${chatKey ?? ''}`
      if (platform === BY_KEY) return user === undefined || user === OWNER ? null : user
      const known = user === undefined ? undefined : holders.get(idKey(platform, user))
      return known === undefined ? `${platform}:${user ?? `chat ${chatKey ?? ''}`}` : known
    },
    holderOf: (key) => {
      const person = holders.get(idKey(KEY, fingerprint(key)))
      return person === undefined || person?.startsWith(`${KEY}:`) ? undefined : { person }
    },
  }
}

/** Whether a person is a group of them. */
export function isGroup(person: string | null): boolean {
  return person?.startsWith(GROUP) ?? false
}

/** A folder name that no other person has, on file systems without capitals too. */
export function folderOf(person: string): string {
  if (PLAIN_FOLDER.test(person)) return person
  const plain = person.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `${plain.slice(0, 32).replace(/^-|-$/g, '')}~${createHash('sha256').update(person).digest('hex').slice(0, 16)}`
}

function fingerprint(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Addresses are the same in capitals. */
function idKey(platform: string, id: string): string {
  return JSON.stringify([platform, platform === 'email' ? id.trim().toLowerCase() : id.trim()])
}

/** Where results and outputs of a person's sessions are kept that are too long to be shown; `null` is the owner of the home. */
export function cacheOf(home: string, person: string | null) {
  const { cache } = homeLayout(home)
  const folder = person === null ? cache : join(cache, 'users', folderOf(person))
  return { folder, results: join(folder, 'results'), outputs: join(folder, 'terminal') }
}
