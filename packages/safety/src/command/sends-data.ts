import { hostKind } from '../url/check-url.js'
import { type Invocation, readOptions, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'
import { gitCommand } from './rules-git.js'

/** bash connects to such a file, which is none. */
const CONNECTION = /^\/dev\/(?:tcp|udp)\//
const LONG_SENDS = /^--(?:data|form|json|upload-file|post-data|post-file|body-)/
const WRITING_METHOD = /^(?:POST|PUT|PATCH|DELETE)$/i

/** Whether a known program takes data off this machine. Says nothing about programs it does not know. */
export function sendsData(invocation: Invocation): boolean {
  const { name, args, redirects } = invocation
  const words = texts(args)
  if (redirects.some(({ target }) => CONNECTION.test(target.text))) return true
  if (PROGRAMS.remoteShells.includes(name) || PROGRAMS.mailers.includes(name) || PROGRAMS.clouds.includes(name))
    return true
  switch (name) {
    case 'curl':
      if (staysHere(invocation)) return false
      return words.some((word) => sendsOption(name, word)) || isComputed(invocation)
    case 'wget':
    case 'http':
    case 'https':
    case 'xh':
      return words.some((word) => sendsOption(name, word)) || isComputed(invocation)
    case 'scp':
    case 'rsync':
      return readOptions(args, ['-e', '-P', '-i', '-o', '-F']).operands.some((word) => /^[^/]+:/.test(word))
    case 'git': {
      const { verb } = gitCommand(args)
      return (
        ['push', 'send-email', 'request-pull'].includes(verb) ||
        (['fetch', 'pull', 'clone', 'ls-remote'].includes(verb) && invocation.inner.length > 0)
      )
    }
    case 'openssl':
      return words[0] === 's_client'
    case 'gh':
    case 'glab':
      return words.some((word) => /^(?:api|create|comment|edit|review|upload|merge|send)$/.test(word))
    default:
      if (PROGRAMS.databaseClients.includes(name)) return isElsewhere(invocation)
      return PROGRAMS.lookups.includes(name) && isComputed(invocation)
  }
}

/** What a program of this machine gets does not leave it. A value of an option that is not known here counts as an address, to be safe. */
function staysHere({ args }: Invocation): boolean {
  if (texts(args).some((word) => /^-[A-Za-z]*[xK]|^--[^=]*=/.test(word))) return false
  const { operands } = readOptions(args, VALUED)
  return operands.length > 0 && operands.every(isLoopback)
}

/** Whether the database that a client names is on another machine, or on one that is known only then. */
function isElsewhere({ name, args, written }: Invocation): boolean {
  const words = texts(args)
  const hosts = words.flatMap((word, at) => {
    if (/^(?:-h|-S|--host|--server)$/.test(words[at - 1] ?? '')) return [word]
    const [, ofOption] = /^(?:-h|--host=|--server=)([^-].*)$/s.exec(word) ?? []
    if (ofOption !== undefined) return [ofOption]
    const ofParameters = [...word.matchAll(/(?:^(?:-d|--dbname=)?|[\s?&])host(?:addr)?=([^\s&]+)/g)].map(
      ([, host]) => host!,
    )
    // Also as the value of an option, whichever that is.
    const ofAddresses = word.split('://').slice(1)
    return [...ofParameters, ...ofAddresses.map((rest) => `any://${rest}`)]
  })
  const [, ofVariable] = /(?:^|\s)(?:PGHOST(?:ADDR)?|MYSQL_HOST|CQLSH_HOST|DATABASE_URL)=(\S+)/.exec(written) ?? []
  return [...hosts, ...operandHosts(name, args), ...(ofVariable === undefined ? [] : [ofVariable])].some(
    // A path is a socket of this machine.
    (host) => !host.startsWith('/') && !isLoopback(host) && !/^(?:tcp:)?\.?$/.test(host),
  )
}

/** Hosts that clients take without an option. A value of an option that is not known here counts as one, to be safe. */
function operandHosts(name: string, args: Invocation['args']): readonly string[] {
  if (!OPERAND_IS_HOST.has(name)) return []
  const { operands } = readOptions(args, VALUED_OF_CLIENTS)
  if (name === 'cqlsh') return operands.filter((word) => !/^\d{1,5}$/.test(word))
  return operands.filter((word) => {
    const isHost = /[.:]/.test(word.includes('/') ? word.slice(0, word.indexOf('/')) : '')
    // A name alone is a database of this machine.
    const isFile = /^[./~]/.test(word) || (!isHost && /\.(?:[cm]?js|mongodb)$/i.test(word))
    return /[.:/]/.test(word) && !isFile
  })
}

const OPERAND_IS_HOST: ReadonlySet<string> = new Set(['mongosh', 'mongo', 'cqlsh'])

/** What is longer than any host and path together is no address. */
export const MAX_ADDRESS = 4_096

/** Whether an address, with or without its scheme, is one of this machine. */
export function isLoopback(address: string): boolean {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`
  return url.length < MAX_ADDRESS && URL.canParse(url) && hostKind(new URL(url).hostname) === 'loopback'
}

const VALUED = Object.freeze([
  ...[
    '-d',
    '--data',
    '--data-raw',
    '--data-binary',
    '--data-urlencode',
    '--json',
    '-F',
    '--form',
    '-T',
    '--upload-file',
  ],
  ...['-H', '--header', '-X', '--request', '-o', '--output', '-u', '--user', '-w', '--write-out', '-m', '--max-time'],
])

/** Options of mongosh and cqlsh whose value is the next word. */
const VALUED_OF_CLIENTS = Object.freeze([
  ...['-u', '--username', '-p', '--password', '-f', '--file', '--eval', '-e', '--execute', '-k', '--keyspace'],
  ...['-h', '--host', '--port', '--authenticationDatabase', '--authenticationMechanism', '--cqlshrc', '--encoding'],
])

const sendsOption = (name: string, word: string): boolean =>
  LONG_SENDS.test(word) ||
  (name === 'curl' && /^-[A-Za-z]*[dFT]/.test(word)) ||
  WRITING_METHOD.test(word.replace(/^(?:-X|--(?:request|method)=)/, ''))

/** An address put together from the output of other programs, or from variables, carries data by itself. */
function isComputed({ inner, args, via }: Invocation): boolean {
  return inner.length > 0 || via !== null || args.some(({ dynamic }) => dynamic)
}
