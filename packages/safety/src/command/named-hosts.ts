import type { Word } from '../shell/script.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { writeTargets } from './write-targets.js'

/** The hosts that a command names, and whether its words lead to no other. */
interface NamedHosts {
  readonly hosts: readonly string[]
  readonly isWhole: boolean
}

/** Options of programs of which every operand is an address: those that lead nowhere else, without and with a value in the next word. */
const FETCHERS: Readonly<Record<string, readonly [plain: RegExp, valued: RegExp]>> = Object.freeze({
  curl: [
    /^(?:-[sSfLkiIvgGO#]+|--(?:silent|show-error|fail|fail-with-body|location|include|head|verbose|get|remote-name|compressed|create-dirs|progress-bar))$/,
    /^(?:-[sSfLkiIvgGO#]*[oHAXdmwCru]|--(?:output|header|user|user-agent|request|data|data-raw|data-binary|data-urlencode|json|max-time|connect-timeout|write-out|retry|retry-delay))$/,
  ],
  wget: [
    /^(?:-(?:[qSvc]|nv|nc|qO-|O-)+|--(?:quiet|no-verbose|verbose|continue|server-response|spider|show-progress|no-clobber)|--(?:output-document|header|user-agent|timeout|tries)=.*)$/,
    /^(?:-q?[OPTtU]|--(?:output-document|directory-prefix|header|user-agent|timeout|tries))$/,
  ],
})

/** `host:path`. */
const REMOTE_PATH = /^[^/]*:/
/** Programs that go to where a host of theirs or an option says. */
const BY_SSH = /^(?:ssh|scp|sftp|rsync|mosh)$/
const STEERS_SSH = /^-[oJFSWwDLRe]|^--(?:rsh|ssh)\b/

/** A host as every program reads it: no user, and nothing that ends it but a port or a path. */
const PLAIN_ADDRESS = /^(?:https?:\/\/)?[\w.-]+(?::\d+)?(?:\/[^\\]*)?$/i
const ADDRESS = /[a-z][a-z0-9+.-]*:\/\/[^\s'"]+/gi
const NAMED = /^(?:[\w.-]+@)?((?:[\w-]+\.)+[a-z]{2,}|localhost|\d+(?:\.\d+){3})(?::|\/|$)/i

/** Where the words of a program that speaks to others lead. */
export function namedHosts(invocation: Invocation): NamedHosts {
  const { name, args, via, variables } = invocation
  const written = new Set(writeTargets(invocation))
  const words = texts(args).filter((word) => !written.has(word) || REMOTE_PATH.test(word))
  const found = words.flatMap(hostsIn)
  const isKnown = via === null && variables.length === 0 && args.every(hasKnownHost)
  const isWhole = isKnown && !found.includes(null) && leadsNowhereElse(name, args, words)
  return { hosts: [...new Set(found.flatMap((host) => host ?? []))], isWhole: isWhole && found.length > 0 }
}

/** `null` for an address that cannot be read. */
function hostsIn(word: string): readonly (string | null)[] {
  const addresses = word.match(ADDRESS) ?? []
  if (addresses.length > 0)
    return addresses.map((address) => (URL.canParse(address) ? new URL(address).hostname : null))
  const named = NAMED.exec(word.replace(/^(?:--[\w-]+|(?:-\w)?\w+)=/, ''))?.[1]
  return named === undefined ? [] : [named]
}

/** What is known only when it runs may stand behind the host, and in one word with it. */
const hasKnownHost = ({ text, dynamic, splits }: Word): boolean =>
  !dynamic || (!splits && /^https?:\/\/[\w.-]+(?::\d+)?\//i.test(text))

function leadsNowhereElse(name: string, args: readonly Word[], words: readonly string[]): boolean {
  if (BY_SSH.test(name))
    return words.every((word) => !STEERS_SSH.test(word) && (!REMOTE_PATH.test(word) || hostsIn(word).length > 0))
  if (!Object.hasOwn(FETCHERS, name)) return true
  const [plain, valued] = FETCHERS[name]!
  const all = texts(args)
  const options = all.filter((word, at) => word.startsWith('-') && !valued.test(all[at - 1] ?? ''))
  const { operands } = readOptions(
    args,
    all.filter((word) => valued.test(word)),
  )
  return (
    options.every((word) => plain.test(word) || valued.test(word)) &&
    operands.every((word) => PLAIN_ADDRESS.test(word) && hostsIn(word).length > 0)
  )
}
