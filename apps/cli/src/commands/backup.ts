import { homeLayout, loadConfig } from '@hermes/config'
import { type BackupReport, type Backups, describeStoreUrl, openBackups } from '@hermes/storage'
import { confirm } from '../confirm.js'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, loggerOf } from '../open-cli.js'

/** `hermes backup create`: a checked copy of the sessions. */
export async function createBackup(io: Io): Promise<number> {
  const backup = await (await backupsOf(io)).create()
  io.stdout.write(`${backup.path}  ${megabytes(backup.bytes)}\n`)
  return EXIT.ok
}

/** `hermes backup list`: newest first. */
export async function listBackups(io: Io, { json }: { readonly json?: boolean }): Promise<number> {
  const all = await (await backupsOf(io)).list()
  for (const backup of all) {
    if (json) io.stdout.write(`${JSON.stringify(backup)}\n`)
    else io.stdout.write(`${backup.name}  ${minute(backup.atMs)}  ${megabytes(backup.bytes)}\n`)
  }
  if (all.length === 0) io.stderr.write('There are no backups yet; hermes backup create makes one.\n')
  return EXIT.ok
}

/** `hermes backup verify [NAME]`: reads all of it; the newest when none is named. Exit code 1 when it is damaged. */
export async function verifyBackup(io: Io, name: string | undefined): Promise<number> {
  const backups = await backupsOf(io)
  const report = await backups.verify(name ?? (await newest(backups)))
  if (report.problems.length === 0) {
    io.stdout.write(`${report.backup.name} is sound: ${contents(report)}\n`)
    return EXIT.ok
  }
  io.stderr.write(`${report.backup.name} is damaged: ${report.problems[0]}\n`)
  return EXIT.failed
}

/** `hermes backup restore [NAME]`: asks, unless told not to. What is there now is kept. */
export async function restoreBackup(
  io: Io,
  name: string | undefined,
  { yes }: { readonly yes?: boolean },
): Promise<number> {
  const backups = await backupsOf(io)
  const report = await backups.verify(name ?? (await newest(backups)))
  const what = `${report.backup.name} of ${minute(report.backup.atMs)} (${contents(report)})`
  if (!yes && !(await confirm(io, `Go back to ${what}? The sessions of now are kept beside it.`, 'yes, go back'))) {
    io.stderr.write('Nothing was changed.\n')
    return EXIT.failed
  }
  const { savedAs } = await backups.restore(report.backup.path)
  io.stdout.write(`Restored ${what}\n`)
  if (savedAs !== null) io.stdout.write(`What was there before: ${savedAs}\n`)
  return EXIT.ok
}

/** `hermes backup recover`: saves what can be read of damaged sessions. */
export async function recoverSessions(io: Io): Promise<number> {
  const { path, sessions, messages, lost } = await (await backupsOf(io)).recover()
  io.stdout.write(`${path}  ${sessions} sessions, ${messages} messages${lost > 0 ? `, up to ${lost} rows lost` : ''}\n`)
  io.stderr.write(`To go on with it: hermes backup restore ${path}\n`)
  return EXIT.ok
}

/** @throws UsageError for sessions on a server, which has its own ways. */
async function backupsOf(io: Io): Promise<Backups> {
  const home = homeOf(io)
  const { url } = (await loadConfig({ home, env: io.env })).config.storage
  if (url !== undefined) {
    const { shown } = describeStoreUrl(url)
    throw new UsageError(
      `The sessions are in ${shown}, not in a file, and have no daily backup here; copy them with pg_dump --format=custom and go back with pg_restore --clean.`,
    )
  }
  const { stateDb, backups } = homeLayout(home)
  return openBackups({ path: stateDb, directory: backups, logger: loggerOf(home) })
}

async function newest(backups: Backups): Promise<string> {
  const [backup] = await backups.list()
  if (backup) return backup.name
  throw new UsageError('There are no backups yet; hermes backup create makes one.')
}

const contents = ({ sessions, messages }: BackupReport): string => `${sessions} sessions, ${messages} messages`
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const minute = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
