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
      const call = { signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_TRY_MS)]), permit }
      const trySearch = async () => {
        const { servedBy, hits, isAnonymous } = await web.search('hermes agent', { ...call, limit: 1 })
        const keyless = isAnonymous ? ' without a key' : ''
        return `${servedBy} answers${keyless}${hits.length === 0 ? ' and finds nothing' : ''}`
      }
      const tryExtract = async () => {
        const { servedBy } = await web.extract(EXAMPLE, call)
        return `${servedBy === 'local' ? 'Hermes itself' : servedBy} reads pages`
      }
      return Promise.all([
        finding('Web search', search, { isUntried: isOffline, attempt: trySearch, signal: call.signal }),
        finding('Web pages', extract, { isUntried: isOffline, attempt: tryExtract, signal: call.signal }),
      ])
    },
  }
}

const EXAMPLE = 'https://example.com/'
/** Several services may be asked, one after the other. */
const LONGEST_TRY_MS = 20_000

interface Trial {
  readonly isUntried: boolean
  readonly attempt: () => Promise<string>
  readonly signal: AbortSignal
}

async function finding(
  what: string,
  { problem, candidates, own, isExplicit }: Choice,
  { isUntried, attempt, signal }: Trial,
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
    // Who chose nothing may well do without.
    const isMissed = isExplicit || candidates.some(({ key }) => key !== null)
    const why = signal.aborted ? 'there was no answer in time.' : errorLine(error)
    return { level: isMissed ? 'fail' : 'warn', text: `${what}: ${why}` }
  }
}

const nameOf = ({ name, key }: Candidate) => `${serviceOf(name).label}${key === null ? ' without a key' : ''}`
