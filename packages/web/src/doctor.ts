import { errorLine } from '@hermes/contracts'
import type { DoctorCheck, Finding } from '@hermes/contracts/extension'
import type { WebCall } from '@hermes/contracts/web'
import type { Candidate, Choice } from './choose.js'
import { serviceOf } from './vendor/vendors.js'
import type { Web } from './web.js'

/** Tries search and pages, each by itself. `permit` gives leave as for the person at this machine. */
export function webDoctor(web: Web, { permit }: Pick<WebCall, 'permit'>): DoctorCheck {
  return {
    name: 'web',
    async run({ isOffline, signal }) {
      if (!(await web.mayFetch()))
        return [{ level: 'ok', text: 'The web: the rules let nothing be fetched, so its tools are off.' }]
      const { search, extract } = web.choice()
      const call = { signal, permit }
      const trySearch = async () => {
        const { servedBy, hits } = await web.search('hermes agent', { ...call, limit: 1 })
        return `${servedBy} answers${hits.length === 0 ? ' and finds nothing' : ''}`
      }
      const tryExtract = async () => `${(await web.extract(EXAMPLE, call)).servedBy} reads pages`
      return Promise.all([
        finding('Web search', search, isOffline || isAnonymous(search), trySearch),
        finding('Web pages', extract, isOffline || !extract.isExplicit, tryExtract),
      ])
    },
  }
}

const EXAMPLE = 'https://example.com/'

/** Without a key searches are few: none is spent on looking. */
const isAnonymous = ({ candidates, own }: Choice) => own === undefined && candidates.every(({ key }) => key === null)

async function finding(
  what: string,
  { problem, candidates, own, isExplicit }: Choice,
  isUntried: boolean,
  attempt: () => Promise<string>,
): Promise<Finding> {
  if (problem !== null) return { level: 'warn', text: `${what}: ${problem}` }
  if (isUntried) {
    const names = own ?? candidates.map(nameOf).join(', then ')
    const first = !isExplicit && what === 'Web pages' ? 'read by Hermes itself' : ''
    return {
      level: 'ok',
      text: `${what}: ${[first, names].filter((part) => part !== '').join(', else by ')} (not tried)`,
    }
  }
  try {
    return { level: 'ok', text: `${what}: ${await attempt()}` }
  } catch (error) {
    return { level: 'fail', text: `${what}: ${errorLine(error)}` }
  }
}

const nameOf = ({ name, key }: Candidate) => `${serviceOf(name).label}${key === null ? ' without a key' : ''}`
