import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isTexts } from '../format/skill.js'
import type { PackMark } from '../install/lock.js'

/** A pack that was shown: which skills are its own, and under which ids those of them wait that come or change. */
interface WaitingPack extends PackMark {
  readonly names: readonly string[]
  readonly ids: readonly string[]
}

/** Keeps it where the offer of that id lies. Rejects with `files.not_writable`. */
export const keepWaiting = (folder: string, pack: WaitingPack): Promise<void> =>
  writePrivate(join(folder, 'pack.json'), `${JSON.stringify(pack)}\n`)

/** The pack that waits there; `null` where none does, or what lies there is damaged. */
export async function waitingAt(folder: string): Promise<WaitingPack | null> {
  const text = await readFile(join(folder, 'pack.json'), 'utf8').catch(() => null)
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value) && isTexts(value['names']) && isTexts(value['ids'])) return value as never
  } catch {
    // A damaged one is none.
  }
  return null
}
