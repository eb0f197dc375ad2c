import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findProgram, freePort, missingPrograms } from './programs.js'

const NOBODY = { uid: 65_534, gid: 65_534 }
const DOMAIN = 'mail.test'
const LIBRARY = '/usr/lib/postfix/sbin'
/** Of postfix, those that take a mail and hand it on. */
const SERVICES = [
  ...['cleanup unix n - n - 0 cleanup', 'qmgr unix n - n 300 1 qmgr', 'rewrite unix - - n - - trivial-rewrite'],
  ...[
    'proxymap unix - - n - - proxymap',
    'anvil unix - - n - 1 anvil',
    'lmtp unix - - n - - lmtp',
    'scache unix - - n - 1 scache',
  ],
  ...['bounce', 'defer', 'trace'].map((name) => `${name} unix - - n - 0 bounce`),
  ...['retry', 'error'].map((name) => `${name} unix - - n - - error`),
]
/** Folders of its queue, and those that others than postfix itself may reach. */
const QUEUE = [
  'active',
  'bounce',
  'corrupt',
  'defer',
  'deferred',
  'flush',
  'hold',
  'incoming',
  'private',
  'saved',
  'trace',
]
const OPEN_QUEUE = { maildrop: 0o1730, public: 0o2710, pid: 0o755 } as const

/** A real dovecot, and a real postfix in front of it, on loopback: mail to anybody at `mail.test` stands in their mailbox. */
export interface MailServer {
  readonly imapPort: number
  readonly smtpPort: number
  /** Of every mailbox that was opened. */
  readonly password: string
  /** Makes a mailbox; gives its address. */
  addInbox(name: string): Promise<string>
  /** Puts a whole mail into a mailbox, as a delivery at some time does (now). */
  deliver(name: string, mail: string, at?: Date): Promise<void>
  /** Whole mails in a mailbox, in the order in which they came. */
  mails(name: string): Promise<readonly string[]>
  /** Nobody gets into the mailbox from now on. */
  revoke(name: string): Promise<void>
  /** The mailbox is filled anew, without so many of its first mails: the others have other numbers from now on. */
  renumber(name: string, options: { readonly without: number }): Promise<void>
  stop(): Promise<void>
}

/** What keeps {@link startMailServer} from working here; `null` when nothing does. */
export function mailServerMissing(): string | null {
  if (process.getuid?.() !== 0) return 'dovecot and postfix change users, which root alone may'
  return missingPrograms('dovecot', 'postfix')
}

/** Starts both; takes a second. @throws when one is missing or does not start. */
export async function startMailServer(): Promise<MailServer> {
  const directory = await mkdtemp('/tmp/hermes-mail-')
  await chmod(directory, 0o755)
  const [imapPort, lmtpPort, smtpPort] = [await freePort(), await freePort(), await freePort()]
  const mailboxes = join(directory, 'mail')
  await mkdir(mailboxes)
  await chown(mailboxes, NOBODY.uid, NOBODY.gid)
  const password = 'a-password-of-the-tests'
  const [denied, revoked] = [join(directory, 'denied'), new Set<string>()]
  await writeFile(denied, '')
  const dovecot = await startDovecot(directory, { imapPort, lmtpPort, password, denied })
  const postfix = await startPostfix(directory, { smtpPort, lmtpPort }).catch(async (error: unknown) => {
    await end(dovecot)
    throw error
  })
  const folder = (name: string) => join(mailboxes, `${name}@${DOMAIN}`)
  let count = 0
  return {
    ...{ imapPort, smtpPort, password },
    addInbox: async (name) => {
      for (const path of ['', 'new', 'cur', 'tmp']) {
        await mkdir(join(folder(name), path), { recursive: true })
        await chown(join(folder(name), path), NOBODY.uid, NOBODY.gid)
      }
      return `${name}@${DOMAIN}`
    },
    deliver: async (name, mail, at) => {
      const file = `${String(1_800_000_000 + ++count)}.M${count}.test`
      const path = join(folder(name), 'tmp', file)
      await writeFile(path, mail.replaceAll(/\r?\n/g, '\r\n'))
      await chown(path, NOBODY.uid, NOBODY.gid)
      if (at) await utimes(path, at, at)
      await rename(path, join(folder(name), 'new', file))
    },
    mails: async (name) => {
      const files = await Promise.all(
        ['new', 'cur'].map(async (path) =>
          (await readdir(join(folder(name), path))).map((file) => [path, file] as const),
        ),
      )
      const sorted = files.flat().sort(([, one], [, other]) => (one < other ? -1 : 1))
      return Promise.all(sorted.map(([path, file]) => readFile(join(folder(name), path, file), 'utf8')))
    },
    revoke: async (name) => {
      revoked.add(`${name}@${DOMAIN}`)
      await writeFile(denied, [...revoked].map((user) => `${user}:\n`).join(''))
    },
    renumber: async (name, { without }) => {
      const cur = join(folder(name), 'cur')
      for (const file of (await readdir(cur)).sort().slice(0, without)) await rm(join(cur, file))
      for (const file of await readdir(folder(name)))
        if (file.startsWith('dovecot')) await rm(join(folder(name), file), { recursive: true, force: true })
    },
    stop: async () => {
      await Promise.all([end(postfix), end(dovecot)])
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function startDovecot(
  directory: string,
  {
    imapPort,
    lmtpPort,
    password,
    denied,
  }: { readonly imapPort: number; readonly lmtpPort: number; readonly password: string; readonly denied: string },
): Promise<ChildProcess> {
  const listener = (service: string, name: string, port: number) =>
    `service ${service} {\n  inet_listener ${name} {\n    address = 127.0.0.1\n    port = ${port}\n  }\n}`
  const config = [
    `base_dir = ${join(directory, 'run')}`,
    `state_dir = ${join(directory, 'run')}`,
    `log_path = ${join(directory, 'dovecot.log')}`,
    ...['protocols = imap lmtp', 'listen = 127.0.0.1', 'ssl = no', 'disable_plaintext_auth = no'],
    ...['first_valid_uid = 1', 'auth_failure_delay = 0', 'auth_cache_size = 0', 'mail_fsync = never'],
    // One machine logs in for all.
    'mail_max_userip_connections = 500',
    `mail_location = maildir:${join(directory, 'mail')}/%u`,
    `passdb {\n  driver = passwd-file\n  args = ${denied}\n  deny = yes\n}`,
    `passdb {\n  driver = static\n  args = password=${password}\n}`,
    `userdb {\n  driver = static\n  args = uid=${NOBODY.uid} gid=${NOBODY.gid} home=${join(directory, 'mail')}/%u allow_all_users=yes\n}`,
    listener('imap-login', 'imap', imapPort),
    'service imap-login {\n  inet_listener imaps {\n    port = 0\n  }\n}',
    listener('lmtp', 'lmtp', lmtpPort),
    'namespace inbox {\n  inbox = yes\n}\n',
  ]
  const file = join(directory, 'dovecot.conf')
  await writeFile(file, config.join('\n'))
  await mkdir(join(directory, 'run'))
  const dovecot = spawn(findProgram('dovecot')!, ['-F', '-c', file], { stdio: 'ignore' })
  await ready(dovecot, imapPort, join(directory, 'dovecot.log'))
  return dovecot
}

async function startPostfix(
  directory: string,
  { smtpPort, lmtpPort }: { readonly smtpPort: number; readonly lmtpPort: number },
): Promise<ChildProcess> {
  const [settings, spool, state] = ['etc', 'spool', 'state'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [settings, spool, state]) await mkdir(path)
  const { uid, gid } = await postfixUser()
  await chown(state, uid, gid)
  for (const name of QUEUE) {
    await mkdir(join(spool, name), { mode: 0o700 })
    await chown(join(spool, name), uid, gid)
  }
  for (const [name, mode] of Object.entries(OPEN_QUEUE)) {
    await mkdir(join(spool, name))
    if (name !== 'pid') await chown(join(spool, name), uid, gid)
    await chmod(join(spool, name), mode)
  }
  const main = {
    compatibility_level: '3.6',
    queue_directory: spool,
    data_directory: state,
    command_directory: '/usr/sbin',
    daemon_directory: LIBRARY,
    myhostname: `mx.${DOMAIN}`,
    mydestination: '',
    virtual_mailbox_domains: DOMAIN,
    virtual_transport: `lmtp:inet:127.0.0.1:${lmtpPort}`,
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    alias_maps: '',
    alias_database: '',
    smtp_dns_support_level: 'disabled',
  }
  await writeFile(
    join(settings, 'main.cf'),
    Object.entries(main)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join(''),
  )
  const listener = `127.0.0.1:${smtpPort} inet n - n - - smtpd`
  await writeFile(join(settings, 'master.cf'), `${[listener, ...SERVICES].join('\n')}\n`)
  // Without the script that starts it, which looks for seconds at what was just written.
  const postfix = spawn(join(LIBRARY, 'master'), ['-c', settings, '-d'], {
    stdio: 'ignore',
    env: { MAIL_CONFIG: settings },
  })
  await ready(postfix, smtpPort)
  return postfix
}

async function postfixUser(): Promise<{ readonly uid: number; readonly gid: number }> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((one) => one.startsWith('postfix:'))
  if (line === undefined) throw new Error('There is no user "postfix".')
  const [, , uid, gid] = line.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

/** Until a port takes connections. */
async function ready(child: ChildProcess, port: number, log?: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(
        `A mail server did not start: ${log === undefined ? '' : await readFile(log, 'utf8').catch(() => '')}`,
      )
    const socket = connect(port, '127.0.0.1')
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
