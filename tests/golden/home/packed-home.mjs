// A packed home: the files of a folder with their modes, and what its maker wrote down of it, as JSON in gzip.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

/** Where homes are made and opened. It is in their records, the signed ones too, so it is the same everywhere. */
export const FOLDER = '/tmp/hermes-golden-home'

/**
 * Packs all that is in {@link FOLDER}.
 * @param {object} facts what a reader should know of it
 */
export function pack(facts) {
  const files = readdirSync(FOLDER, { recursive: true })
    .toSorted()
    .map((path) => ({ path, ...read(join(FOLDER, path)) }))
  return gzipSync(JSON.stringify({ ...facts, files }), { level: 9 })
}

function read(path) {
  const info = lstatSync(path)
  const mode = info.mode & 0o777
  if (info.isSymbolicLink()) return { link: readlinkSync(path) }
  if (info.isDirectory()) return { mode }
  return { mode, base64: readFileSync(path, 'base64') }
}

/**
 * Unpacks a home into {@link FOLDER}, which this process has to itself until it calls what comes back.
 * @returns {Promise<{ facts: { commit: string, sessions: Record<string, { id: string, request?: any }> }, leave: () => void }>}
 */
export async function unpack(path) {
  await take()
  const { files, ...facts } = JSON.parse(gunzipSync(readFileSync(path)).toString())
  for (const file of files) {
    const target = join(FOLDER, file.path)
    if (file.link !== undefined) symlinkSync(file.link, target)
    else if (file.base64 === undefined) mkdirSync(target)
    else writeFileSync(target, file.base64, 'base64')
  }
  // Modes last, the inner ones first: a folder may be closed for writing.
  for (const file of files.toReversed()) if (file.mode !== undefined) chmodSync(join(FOLDER, file.path), file.mode)
  return { facts, leave: () => rmSync(FOLDER, { recursive: true, force: true }) }
}

const OWNER = `${FOLDER}.pid`
const WAIT_MS = 100
const MOST_WAITS = 1_200

/** Two test runs on one machine take turns; what a run that died has left is removed. */
async function take() {
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    try {
      mkdirSync(FOLDER)
      writeFileSync(OWNER, String(process.pid))
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (hasEnded()) rmSync(FOLDER, { recursive: true, force: true })
    else await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
  throw new Error(`Another run still has ${FOLDER}. Remove it when there is none.`)
}

function hasEnded() {
  try {
    process.kill(Number(readFileSync(OWNER, 'utf8')), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH' || error.code === 'ENOENT'
  }
}
