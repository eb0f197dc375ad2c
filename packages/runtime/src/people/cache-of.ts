import { join } from 'node:path'
import { homeLayout } from '@hermes/config'
import { folderOf } from './people.js'

/** Where results and outputs of a person's sessions are kept that are too long to be shown; `null` is the owner of the home. */
export function cacheOf(home: string, person: string | null) {
  const { cache } = homeLayout(home)
  const folder = person === null ? cache : join(cache, 'users', folderOf(person))
  return { folder, results: join(folder, 'results'), outputs: join(folder, 'terminal') }
}
