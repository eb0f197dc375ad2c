import { posix } from 'node:path'
import type { Environment } from '@hermes/contracts/environment'
import { strangeName } from './file-access.js'

/** One line on a file that is not there, naming up to three files of nearly that name. */
export async function missingFile(environment: Environment, path: string): Promise<string> {
  const strange = strangeName(environment, path)
  if (strange !== null) return strange
  const folder = posix.dirname(path)
  const entries = await environment.list(folder)
  if (!entries) return `There is no file ${path}; its folder does not exist either.`
  const name = posix.basename(path)
  if (entries.some((entry) => entry.name === name && entry.type === 'link'))
    return `${path} is a link to ${await environment.realpath(path)}, which does not exist.`
  const names = await similarNames(
    name,
    entries.map((entry) => entry.name),
  )
  if (names.length === 0) return `There is no file ${path}. Find it with search_files and target="files".`
  return `There is no file ${path}. Did you mean ${names.map((similar) => posix.join(folder, similar)).join(' or ')}?`
}

/** Up to three of `names` that are most like `name`, nearest first. */
async function similarNames(name: string, names: readonly string[]): Promise<readonly string[]> {
  const { distance } = await import('fastest-levenshtein')
  const wanted = name.toLowerCase()
  const stem = wanted.replace(/\.[^.]*$/, '')
  return names
    .map((candidate) => {
      const lower = candidate.toLowerCase()
      const shared = stem.length > 2 && lower.includes(stem)
      return { candidate, score: distance(wanted, lower), shared }
    })
    .filter(({ score, shared }) => shared || score <= Math.max(2, wanted.length / 4))
    .sort((a, b) => a.score - b.score || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
