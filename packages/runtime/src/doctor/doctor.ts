import type { Finding } from '@hermes/contracts/extension'
import type { Runtime } from '../runtime.js'
import { extensionFindings } from './extensions.js'
import type { DoctorHome } from './finding.js'
import { warn } from './finding.js'
import { homeFindings } from './home.js'
import { memoryFindings } from './memory.js'
import { modelFinding } from './model.js'
import { programFindings } from './programs.js'
import { proxyFindings } from './proxies.js'
import { rescueFindings, storeFinding } from './store.js'
import { terminalFindings } from './terminal.js'

/** What works, what does not, and what to do about it. */
export async function doctorFindings(
  runtime: Runtime,
  of: DoctorHome,
  options: { readonly isOffline: boolean },
): Promise<readonly Finding[]> {
  const ofHome = [...(await homeFindings(of, runtime)), ...proxyFindings(of)]
  const found = new Set(ofHome.map(({ text }) => text))
  return [
    { level: 'ok', text: `Node ${process.versions.node}` },
    ...ofHome,
    ...runtime.problems.filter((problem) => !found.has(problem)).map(warn),
    await storeFinding(of, runtime),
    ...(await rescueFindings(runtime)),
    await modelFinding(runtime, options),
    ...(await memoryFindings(runtime, options)),
    ...(await terminalFindings(runtime, options)),
    ...(await extensionFindings(runtime, options)),
    ...(await programFindings(of)),
  ]
}
