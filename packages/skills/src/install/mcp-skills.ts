// Skills of a configured MCP server: `mcp:SERVER` lists them, `mcp:SERVER/NAME` gets one.
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { SKILL_NAME } from '../format/skill.js'
import type { SkillsHome } from '../skills-home.js'
import type { Fetched } from './fetched.js'
import { oddFiles, writeFiles } from './hub.js'
import { sha256 } from './lock.js'

const FROM = /^mcp:([\w.-]{1,64})(?:\/([a-z0-9-]{1,64}))?$/
const MAX_BYTES = 5_242_880
const MAX_FILES = 50

export const isOfServer = (from: string): boolean => from.startsWith('mcp:')

/** Gets skills of a server into `stage`. Rejects with one line. */
export async function fetchFromServer(
  from: string,
  stage: string,
  { home, signal }: { readonly home: SkillsHome; readonly signal: AbortSignal },
): Promise<Fetched> {
  const [, server, wanted] = FROM.exec(from) ?? []
  if (server === undefined) throw new Error(`${from.slice(0, 100)} is no mcp:SERVER or mcp:SERVER/NAME`)
  const all = (await home.ofServer(server, signal)).filter(({ name }) => SKILL_NAME.test(name))
  const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted)
  if (chosen.length === 0)
    throw new Error(
      wanted === undefined
        ? `the MCP server ${server} has no skills`
        : `the MCP server ${server} has no skill ${wanted}`,
    )
  const [first, ...more] = chosen
  if (more.length > 0 || !first)
    return { skills: chosen.map(({ name }) => ({ folder: '', name, from: `mcp:${server}/${name}` })), pin: null }
  // What it says of its size is looked at before anything of it is read.
  const { files: count, bytes } = first.size
  if (count > MAX_FILES || bytes > MAX_BYTES)
    throw new Error(`it has ${count} files with ${bytes} bytes, which is more than a skill may have`)
  const files = await first.read(signal).catch((error: unknown) => {
    throw HermesError.isInstance(error) ? new Error(error.message.replace(/\.$/, '')) : error
  })
  const odd = oddFiles(files.map(({ path }) => path))
  if (odd !== null) throw new Error(odd)
  const folder = join(stage, first.name)
  await writeFiles(folder, files)
  const pin = sha256(
    files
      .map(({ path, bytes: own }) => `${path}\0${sha256(own)}\n`)
      .sort()
      .join(''),
  )
  return { skills: [{ folder, name: first.name, from: `mcp:${server}/${first.name}` }], pin }
}
