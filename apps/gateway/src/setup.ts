// `hermes gateway setup NAME`: asks what an account needs, tries it, and keeps it in `.env` of the home.

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { defaultHome, loadConfig, loadSecrets, setSecret } from '@hermes/config'
import { nearestName } from '@hermes/contracts'
import { type OwnPlatform, openHome } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'
import { createOriginFetch } from '@hermes/safety'
import { checkPlatform } from './platforms/check-platforms.js'
import { configuredPlatforms } from './platforms/open-platforms.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2

type Values = Readonly<Record<string, string>>

/** Something that an account needs. */
interface Wanted {
  readonly variable: string
  readonly label: string
  readonly isSecret?: true
  readonly usual?: (known: Values) => string
}

/** Mail servers of large providers, by the domain of an address. */
const MAIL_SERVERS: Readonly<Record<string, readonly [imap: string, smtp: string]>> = {
  'gmail.com': ['imap.gmail.com', 'smtp.gmail.com'],
  'googlemail.com': ['imap.gmail.com', 'smtp.gmail.com'],
  'outlook.com': ['outlook.office365.com', 'smtp-mail.outlook.com'],
  'icloud.com': ['imap.mail.me.com', 'smtp.mail.me.com'],
  'yahoo.com': ['imap.mail.yahoo.com', 'smtp.mail.yahoo.com'],
  'fastmail.com': ['imap.fastmail.com', 'smtp.fastmail.com'],
  'gmx.net': ['imap.gmx.net', 'mail.gmx.net'],
  'web.de': ['imap.web.de', 'smtp.web.de'],
}

const PLATFORMS: Readonly<Record<string, readonly Wanted[]>> = {
  telegram: [{ variable: 'TELEGRAM_BOT_TOKEN', label: 'Token of the bot, from @BotFather', isSecret: true }],
  email: [
    { variable: 'EMAIL_ADDRESS', label: 'Address of the mailbox that the agent has for itself' },
    { variable: 'EMAIL_PASSWORD', label: 'Its password, or one made for an app', isSecret: true },
    { variable: 'EMAIL_IMAP_HOST', label: 'IMAP server', usual: (known) => serverOf(known, 0, 'imap') },
    { variable: 'EMAIL_IMAP_PORT', label: 'IMAP port', usual: () => '993' },
    { variable: 'EMAIL_SMTP_HOST', label: 'SMTP server', usual: (known) => serverOf(known, 1, 'smtp') },
    { variable: 'EMAIL_SMTP_PORT', label: 'SMTP port', usual: () => '587' },
    {
      variable: 'EMAIL_AUTHSERV_ID',
      label: 'First word after Authentication-Results: in a mail you got there (none: senders are taken at their word)',
    },
  ],
}

const NEXT: Readonly<Record<string, string>> = {
  telegram:
    'Start it with: hermes gateway run. Who writes to the bot gets a code; let them in with: hermes pairing approve telegram CODE',
  email:
    'Say who may write: EMAIL_ALLOWED_USERS=you@example.org in .env, or people in config.yaml. Then: hermes gateway run',
}

/**
 * Sets an account up, of a platform of Hermes or of a plugin; nothing is written before it answered. Exit code 1 where it did not, 2 for a name or
 * a value that is missing.
 */
export async function setupPlatform(io: Io, name: string | undefined): Promise<number> {
  if (name !== undefined && Object.hasOwn(PLATFORMS, name))
    return setUp(io, name, { wanted: PLATFORMS[name]!, next: NEXT[name]!, own: [] })
  // Others come with plugins.
  const { runtime } = await openHome(io, { program: 'hermes gateway', log: 'gateway.log' })
  try {
    const own = runtime.chatPlatforms
    const brought = own.find((one) => one.name === name)
    if (name !== undefined && brought)
      return await setUp(io, name, { wanted: brought.account, next: nextOf(name), own })
    io.stderr.write(`${unknown(name, [...Object.keys(PLATFORMS), ...own.map((one) => one.name)])}\n`)
    return EXIT_USAGE
  } finally {
    await runtime.close()
  }
}

function unknown(name: string | undefined, known: readonly string[]): string {
  if (name === undefined) return `Which platform? hermes gateway setup ${known.join('|')}`
  const shown = JSON.stringify(name.slice(0, 60))
  const meant = nearestName(name, known)
  const hint = meant === null ? `Known here: ${known.join(', ')}.` : `Did you mean ${meant}?`
  return `There is no chat platform ${shown} in this home. ${hint} Others come with plugins: hermes plugins install SOURCE --enable (a folder, an npm package, a git address), then hermes gateway setup NAME`
}

const nextOf = (name: string) =>
  `Start it with: hermes gateway run. Who writes there gets a code; let them in with: hermes pairing approve ${name} CODE`

interface Setup {
  readonly wanted: readonly Wanted[]
  /** What the person is told last. */
  readonly next: string
  /** The platforms that extensions bring. */
  readonly own: readonly OwnPlatform[]
}

async function setUp(io: Io, name: string, { wanted, next, own }: Setup): Promise<number> {
  const home = defaultHome(io)
  const [{ config }, { values }] = await Promise.all([
    loadConfig({ home, env: io.env }),
    loadSecrets({ home, env: io.env }),
  ])
  const answers =
    io.stdin.isTTY && io.stdout.isTTY ? await ask(io, wanted, values) : fromVariables(io, name, wanted, values)
  if (answers === null) return EXIT_USAGE
  const one = configuredPlatforms(config, { ...values, ...answers }, own).find((platform) => platform.name === name)
  if (!one) {
    io.stderr.write(`platforms.${name}.enabled is false in config.yaml.\n`)
    return EXIT_USAGE
  }
  io.stdout.write('Trying it …\n')
  const { level, text } = await checkPlatform(one, { fetchTo: (baseUrl) => createOriginFetch({ baseUrl }) })
  if (level !== 'ok') {
    io.stderr.write(`${text}\nNothing was changed.\n`)
    return EXIT_FAILED
  }
  for (const [variable, value] of Object.entries(answers)) await setSecret({ home, name: variable, value })
  io.stdout.write(
    `${text}. The account stands in .env of the home.\n${one.warnings.map((line) => `${line}\n`).join('')}${next}\n`,
  )
  return 0
}

/** Where nobody can be asked, all has to be there. */
function fromVariables(io: Io, name: string, wanted: readonly Wanted[], values: Values): Values | null {
  const known: Record<string, string> = {}
  for (const { variable, usual } of wanted) known[variable] = values[variable] || usual?.({ ...values, ...known }) || ''
  const missing = Object.keys(known).filter((variable) => known[variable] === '')
  if (missing.length === 0) return known
  io.stderr.write(
    `Nobody can be asked here. Name it all: ${missing.map((variable) => `${variable}=…`).join(' ')} hermes gateway setup ${name}\n`,
  )
  return null
}

async function ask(io: Io, wanted: readonly Wanted[], values: Values): Promise<Values | null> {
  let isHidden = false
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isHidden) io.stdout.write(chunk.toString())
      done()
    },
  })
  const lines = createInterface({ input: io.stdin, output, terminal: true })
  const over = new AbortController()
  lines.on('close', () => over.abort())
  const known: Record<string, string> = {}
  try {
    for (const { variable, label, isSecret, usual } of wanted) {
      const before = values[variable] || usual?.({ ...values, ...known }) || ''
      const shown = before === '' ? '' : isSecret ? ' [as it is]' : ` [${before}]`
      io.stdout.write(`${label}${shown}: `)
      isHidden = isSecret === true
      const answer = (await lines.question('', { signal: over.signal })).trim()
      if (isHidden) io.stdout.write('\n')
      isHidden = false
      known[variable] = answer || before
      if (known[variable] === '') {
        io.stderr.write(`${variable} is needed. Nothing was changed.\n`)
        return null
      }
    }
    return known
  } catch (error) {
    if (!over.signal.aborted) throw error
    io.stderr.write('\nNothing was changed.\n')
    return null
  } finally {
    lines.close()
  }
}

function serverOf(known: Values, index: 0 | 1, prefix: string): string {
  const address = known['EMAIL_ADDRESS'] ?? ''
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return MAIL_SERVERS[domain]?.[index] ?? (domain === '' ? '' : `${prefix}.${domain}`)
}
