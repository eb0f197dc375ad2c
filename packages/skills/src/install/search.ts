import { HermesError, isJsonObject, nearestName } from '@hermes/contracts'
import { type FoundSkills, type HubRequest, hubJson, lineOf, PER_PAGE } from './hub.js'
import { HUBS } from './hubs.js'
import { offeredBy } from './well-known.js'

/** REST API 2022-11-28. @see https://docs.github.com/en/rest/search/search#search-repositories */
const API = 'https://api.github.com/search/repositories'
/** It answers 422 for what comes after. */
const MOST_FOUND = 1_000

/** Where skills are looked for by words. */
const SEARCHED: readonly string[] = ['github', ...HUBS.map(({ name }) => name)]

/**
 * Looks for skills: the list of a site where the words are an address, else what `source` has, by default repositories of GitHub with the topic
 * `agent-skills`, most stars first. `page` from 1.
 * @throws HermesError `skills.not_searched`, one line; `commands.usage` for a source that is none.
 */
export async function searchSkills(
  words: string,
  { source = 'github', page, ...request }: HubRequest & { readonly source?: string; readonly page: number },
): Promise<FoundSkills> {
  if (!SEARCHED.includes(source)) {
    const near = nearestName(source, SEARCHED)
    throw new HermesError(`--source is one of ${SEARCHED.join(', ')}.${near ? ` Did you mean ${near}?` : ''}`, {
      code: 'commands.usage',
    })
  }
  if (/^https?:\/\//.test(words)) return offeredAt(words, page, request)
  const hub = HUBS.find(({ name }) => name === source)
  try {
    return await (hub ? hub.search(words, page, request) : onGitHub(words, page, request))
  } catch (error) {
    request.signal.throwIfAborted()
    throw notSearched((error as Error).message)
  }
}

async function offeredAt(site: string, page: number, request: HubRequest): Promise<FoundSkills> {
  const offered = await offeredBy(site, request)
  const found = offered.slice((page - 1) * PER_PAGE, page * PER_PAGE).map(({ name, description, problem }) => ({
    ...{ from: `${site.replace(/[?#].*$/, '')}#${name}`, liked: '' },
    about: problem === null ? description : `cannot be taken: ${problem}`,
  }))
  return { found, total: offered.length }
}

async function onGitHub(words: string, page: number, request: HubRequest): Promise<FoundSkills> {
  if ((page - 1) * PER_PAGE >= MOST_FOUND)
    throw new Error(`GitHub shows the first ${MOST_FOUND} of what it finds, no page ${page}`)
  const query = new URLSearchParams({
    ...{ q: `${words} topic:agent-skills`, sort: 'stars' },
    ...{ per_page: String(PER_PAGE), page: String(page) },
  })
  const { items, total_count: total, incomplete_results: isPart } = await hubJson('GitHub', `${API}?${query}`, request)
  if (!Array.isArray(items)) throw new Error('GitHub gave no list')
  const found = items.flatMap((item) => {
    if (!isJsonObject(item) || typeof item['full_name'] !== 'string') return []
    const { full_name: from, description, stargazers_count: stars } = item
    return [{ from, about: lineOf(description), liked: typeof stars === 'number' ? `${stars} stars` : '' }]
  })
  const note = 'GitHub ran out of time and gave a part of it; try again for the rest.'
  return {
    ...{ found, total: typeof total === 'number' ? Math.min(total, MOST_FOUND) : found.length },
    ...(isPart === true ? { note } : {}),
  }
}

const notSearched = (why: string) => new HermesError(`Nothing was found out: ${why}.`, { code: 'skills.not_searched' })
