import { HermesError, isJsonObject } from '@hermes/contracts'
import type { SkillsHome } from '../skills-home.js'
import { offeredBy } from './well-known.js'

/** Something that can be installed. */
export interface FoundSkill {
  /** For `hermes skills install`. */
  readonly from: string
  readonly about: string
  readonly stars: number | null
}

const API = 'https://api.github.com/search/repositories'
const PER_PAGE = 30
const MAX_BYTES = 4_194_304

/**
 * Looks for skills: the list of a site where the words are an address, else repositories of GitHub with the topic `agent-skills`, most stars first. `page` from 1.
 * @throws HermesError `skills.not_searched`, one line.
 */
export async function searchSkills(
  words: string,
  { fetch, signal, page }: Pick<SkillsHome, 'fetch'> & { readonly signal: AbortSignal; readonly page: number },
): Promise<{ readonly found: readonly FoundSkill[]; readonly total: number }> {
  if (/^https?:\/\//.test(words)) {
    const offered = await offeredBy(words, { fetch, signal })
    const found = offered.map(({ name, description, problem }) => ({
      ...{ from: `${words.replace(/[?#].*$/, '')}#${name}`, stars: null },
      about: problem === null ? description : `cannot be taken: ${problem}`,
    }))
    return { found, total: found.length }
  }
  const query = new URLSearchParams({
    ...{ q: `${words} topic:agent-skills`, sort: 'stars' },
    ...{ per_page: String(PER_PAGE), page: String(page) },
  })
  const value = await answer(`${API}?${query}`, { fetch, signal })
  const items = isJsonObject(value) && Array.isArray(value['items']) ? value['items'] : null
  if (items === null) throw notSearched('GitHub gave no list')
  const found = items.flatMap((item): readonly FoundSkill[] => {
    if (!isJsonObject(item) || typeof item['full_name'] !== 'string') return []
    const { full_name: from, description: about, stargazers_count: stars } = item
    return [{ from, about: typeof about === 'string' ? about : '', stars: typeof stars === 'number' ? stars : null }]
  })
  const total = isJsonObject(value) && typeof value['total_count'] === 'number' ? value['total_count'] : found.length
  return { found, total }
}

async function answer(
  url: string,
  { fetch, signal }: Pick<SkillsHome, 'fetch'> & { readonly signal: AbortSignal },
): Promise<unknown> {
  try {
    return JSON.parse(Buffer.from(await fetch(url, { maxBytes: MAX_BYTES, signal })).toString('utf8')) as unknown
  } catch (error) {
    signal.throwIfAborted()
    const why = (error as Error).message
    throw notSearched(
      /\b(?:403|429)\b/.test(why)
        ? 'GitHub takes only some ten searches a minute without an account; try again in a minute'
        : error instanceof SyntaxError
          ? 'GitHub gave half an answer; try again'
          : why.replace(/\.$/, ''),
    )
  }
}

const notSearched = (why: string) => new HermesError(`Nothing was found out: ${why}.`, { code: 'skills.not_searched' })
