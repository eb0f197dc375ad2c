import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorLine } from '@hermes/contracts'
import type { SkillsHome } from '../skills-home.js'
import { badPack, type PackList, readPack } from './pack-list.js'

const MAX_LIST_BYTES = 4_194_304

/**
 * The list of a pack that config.yaml names, signed by the key that stands there, and the SHA-256 of what was signed.
 * @throws HermesError `skills.bad_pack`
 */
export async function fetchPack(
  name: string,
  { home, signal }: { readonly home: SkillsHome; readonly signal: AbortSignal },
): Promise<{ readonly list: PackList; readonly sha256: string; readonly key: string }> {
  const { from, key } = settingsOf(name, home)
  const { sha256, ...list } = readPack(await bytesFrom(name, from, { home, signal }), { name, key })
  return { list, sha256, key }
}

function settingsOf(
  name: string,
  { settings: { packs } }: SkillsHome,
): { readonly from: string; readonly key: string } {
  const { from, key } = (Object.hasOwn(packs, name) ? packs[name] : undefined) ?? {}
  if (from === undefined || key === undefined)
    throw badPack(
      name,
      `config.yaml does not say where it is and who signs it: hermes config set skills.packs.${/^[a-z0-9-]+$/.test(name) ? name : 'NAME'}.from ADDRESS, and .key ed25519:KEY`,
    )
  return { from, key }
}

async function bytesFrom(
  name: string,
  from: string,
  { home, signal }: { readonly home: SkillsHome; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  try {
    if (/^https?:\/\//.test(from)) return await home.fetch(from, { maxBytes: MAX_LIST_BYTES, signal })
    return await readFile(resolve(home.userHome, from.replace(/^~\//, '')))
  } catch (error) {
    signal.throwIfAborted()
    throw badPack(name, `its list cannot be read: ${errorLine(error).replace(/\.$/, '')}`)
  }
}
