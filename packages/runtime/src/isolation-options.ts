import type { IsolationOptions } from '@hermes/sandbox'
import type { EnvironmentRequest } from './environment-request.js'
import { toPath } from './to-path.js'

/** How commands and programs of this machine are held to the workspace; `null` where they are not. */
export function isolationOf({
  config,
  home,
  userHome,
  cwd,
  isolationSupport,
}: Pick<EnvironmentRequest, 'config' | 'home' | 'userHome' | 'cwd' | 'isolationSupport'>): IsolationOptions | null {
  const { isolation, isolation_write, isolation_read, isolation_network: network } = config.terminal
  if (isolation === 'off') return null
  const path = (text: string) => toPath(text, userHome, cwd)
  return {
    hidden: [home],
    writable: isolation_write.map(path),
    readable: isolation_read.map(path),
    network,
    required: isolation === 'on',
    ...(isolationSupport ? { support: isolationSupport } : {}),
  }
}
