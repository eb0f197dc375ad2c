import { stat } from 'node:fs/promises'
import { platform } from 'node:process'
import { HermesError } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { editEnv, parseEnv } from './env-file.js'
import { readToEdit, tryReadText } from './files.js'
import { homeLayout } from './home.js'
import type { ConfigProblem } from './problem.js'

/** Environment variables, as an app got them. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The variables an agent may use, and which of them are secret. */
interface Secrets {
  /** `.env` overlaid by the environment; an empty variable does not hide a value of `.env`. */
  readonly values: Record<string, string>
  /** Names, in `.env` or the environment, that look like those of keys: a plain path or address in `.env` is no secret. */
  readonly secretNames: string[]
  readonly problems: ConfigProblem[]
}

const SECRET_NAME = /(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$/i

/** Reads `.env` of a home. Never throws for what is in it; a file that others can read is a problem. */
export async function loadSecrets({ home, env }: { readonly home: string; readonly env: Variables }): Promise<Secrets> {
  const file = homeLayout(home).env
  const read = await tryReadText(file)
  const stored = read.type === 'text' ? parseEnv(read.text) : {}
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const overlay = set.filter(([name, value]) => value !== '' || !Object.hasOwn(stored, name))
  const values = Object.fromEntries([...Object.entries(stored), ...overlay])
  const problems: ConfigProblem[] = []
  if (read.type === 'unreadable') problems.push({ message: `Cannot read ${file}: ${read.reason}`, file })
  if (read.type === 'text' && (await othersCanRead(file)))
    problems.push({ message: `Others can read ${file}. Run: chmod 600 ${file}`, file })
  return {
    values,
    secretNames: Object.keys(values).filter((name) => SECRET_NAME.test(name)),
    problems,
  }
}

async function othersCanRead(file: string): Promise<boolean> {
  if (platform === 'win32') return false
  return ((await stat(file)).mode & 0o077) !== 0
}

/**
 * Sets one value in `.env` of a home, atomically and with mode 0600; comments and order stay.
 * @throws HermesError `config.bad_name`, `files.not_writable`, `config.unreadable`
 */
export async function setSecret(options: {
  readonly home: string
  readonly name: string
  readonly value: string
}): Promise<void> {
  const { home, name, value } = options
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new HermesError(`"${name}" is no name for a variable; use letters, digits and _.`, {
      code: 'config.bad_name',
    })
  const file = homeLayout(home).env
  await writePrivate(file, editEnv(await readToEdit(file), name, value))
}
