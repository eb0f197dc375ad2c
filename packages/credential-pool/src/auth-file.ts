import { chmod, link, readFile, rm, stat } from 'node:fs/promises'
import { errorLine, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'

/** The whole of `auth.json`. Everything that is not known here is kept as it is. */
export type AuthDocument = JsonObject

/** What there is at the path. */
export type AuthFile =
  | { readonly type: 'missing' }
  | { readonly type: 'file'; readonly document: AuthDocument; readonly isOpenToOthers: boolean }
  | { readonly type: 'malformed'; readonly reason: string }
  | { readonly type: 'unreadable'; readonly reason: string }

/** Reads and checks the file. Never rejects. */
export async function readAuthFile(path: string): Promise<AuthFile> {
  try {
    const found = await stat(path)
    // A pipe or a device may never end.
    if (!found.isFile()) return { type: 'unreadable', reason: 'it is not a file' }
    return parse(await readFile(path, 'utf8'), (found.mode & 0o077) !== 0)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { type: 'missing' }
      : { type: 'unreadable', reason: errorLine(error) }
  }
}

function parse(text: string, isOpenToOthers: boolean): AuthFile {
  let value: JsonValue
  try {
    // An empty file is the work of `touch`: nothing is lost in it.
    value = JSON.parse(text.replace(/^\uFEFF/, '').trim() || '{}') as JsonValue
  } catch {
    // What the parser says quotes the text, which holds secrets.
    return { type: 'malformed', reason: 'it is not valid JSON' }
  }
  if (!isJsonObject(value)) return { type: 'malformed', reason: 'it is not a JSON object' }
  const pool = value['credential_pool']
  if (pool !== undefined && pool !== null && !isJsonObject(pool))
    return { type: 'malformed', reason: 'its credential_pool is not an object' }
  for (const [provider, entries] of Object.entries(pool ?? {}))
    if (!Array.isArray(entries))
      return { type: 'malformed', reason: `its credential_pool.${JSON.stringify(provider)} is not a list` }
  return { type: 'file', document: value, isOpenToOthers }
}

/** Changes whenever the file may have changed; `null` when there is none. */
export async function signatureOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs, ctimeNs }) => [ino, size, mtimeNs, ctimeNs].join(),
    () => null,
  )
}

/** Gives the file another name, one that is free, and says which. It is never written over. */
export async function setAside(path: string, nowMs: number): Promise<string> {
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '').replace('T', '-')
  for (let attempt = 0; ; attempt++) {
    const aside = `${path}.broken-${stamp}${attempt === 0 ? '' : `-${attempt}`}`
    try {
      await link(path, aside)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw error
    }
    await chmod(aside, 0o600)
    await rm(path)
    return aside
  }
}
