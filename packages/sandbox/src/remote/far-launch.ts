import { HermesError } from '@hermes/contracts'
import type { Launch } from '../far-start.js'
import { quote } from '../quote.js'
import { backgroundScript, type FarCommand } from './exec-script.js'
import type { HostClient } from './host-client.js'
import { START_LINE, scriptLine } from './shell-text.js'

/** What starts clients. */
interface ClientHost {
  client(line: string, options: { readonly lasts: boolean }): HostClient
  failure(exitCode: number | null, stderr: string): HermesError
}

/** Starts `far` as a background process over there, by a client here that carries its input and output. */
export function farLaunch(host: ClientHost, far: FarCommand, mark: string): Launch {
  const client = host.client(START_LINE, { lasts: true })
  return {
    command: (report) => `${[client.program, ...client.args].map(quote).join(' ')} 2>${quote(report)}`,
    env: client.env,
    input: scriptLine(backgroundScript(far, mark)),
    started(report) {
      const said = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
      return said && { pid: Number(said[1]), startTime: said[2]! }
    },
    failure(exitCode, report) {
      if (!report.includes(`${mark} gone`)) return host.failure(exitCode, report)
      return new HermesError(`Cannot run in ${far.cwd}: there is no such directory.`, {
        code: 'environment.not_found',
        details: { path: far.cwd },
      })
    },
  }
}
