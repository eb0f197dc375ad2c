import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '@hermes/files'
import { readText } from './files.js'
import { homeLayout } from './home.js'

const PREFIX = 'config.yaml.good.'
const KEPT = 5

/** The copies of configurations that loaded cleanly, newest first. */
export async function goodCopies(home: string): Promise<string[]> {
  const folder = copyFolder(home)
  const names = await readdir(folder).catch(() => [])
  const copies = names.filter((name) => name.startsWith(PREFIX) && !name.endsWith('.tmp'))
  return copies.sort((a, b) => numberOf(b) - numberOf(a)).map((name) => join(folder, name))
}

/** Keeps a copy of a text that loaded cleanly, unless the newest copy says the same. Five copies stay. */
export async function keepGoodCopy(home: string, text: string): Promise<void> {
  const copies = await goodCopies(home)
  const newest = copies[0]
  if (newest !== undefined && (await holds(newest, text))) return
  const next = newest === undefined ? 1 : numberOf(newest) + 1
  await writePrivate(join(copyFolder(home), `${PREFIX}${String(next).padStart(6, '0')}`), text)
  for (const old of copies.slice(KEPT - 1)) await rm(old, { force: true })
}

async function holds(file: string, text: string): Promise<boolean> {
  const found = await stat(file).catch(() => null)
  return found?.size === Buffer.byteLength(text) && (await readText(file)) === text
}

function copyFolder(home: string): string {
  return join(homeLayout(home).backups, 'config')
}

function numberOf(copy: string): number {
  return Number.parseInt(copy.slice(copy.lastIndexOf(PREFIX) + PREFIX.length), 10) || 0
}
