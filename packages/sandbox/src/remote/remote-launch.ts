import type { HermesError } from '@hermes/contracts'
import { quote } from '../shell/quote.js'
import type { Launch } from '../shell/remote-start.js'
import { missingDirectory } from '../shell/session.js'
import { backgroundScript, type RemoteCommand } from './exec-script.js'
import type { HostClient } from './host-client.js'
import { START_LINE, scriptLine } from './shell-text.js'

/** What starts clients. */
interface ClientHost {
  client(line: string, options: { readonly lasts: boolean }): HostClient
  failure(exitCode: number | null, stderr: string): HermesError
}

/** Starts `remote` as a background process over there, by a client here that carries its input and output. */
export function remoteLaunch(host: ClientHost, remote: RemoteCommand, mark: string): Launch {
  const client = host.client(START_LINE, { lasts: true })
  return {
    command: (report) => `${[client.program, ...client.args].map(quote).join(' ')} 2>${quote(report)}`,
    env: client.env,
    input: scriptLine(backgroundScript(remote, mark)),
    started(report) {
      const output = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
      return output && { pid: Number(output[1]), startTime: output[2]! }
    },
    failure(exitCode, report) {
      if (!report.includes(`${mark} gone`)) return host.failure(exitCode, report)
      return missingDirectory(remote.cwd)
    },
  }
}
