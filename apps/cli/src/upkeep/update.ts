import { withoutLogin } from '@hermes/safety'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withRuntime } from '../open-cli.js'
import { findInstallation, type Installation, PACKAGE } from './installation.js'
import { findRegistry, isNewer, latestVersion } from './registry.js'

/** `hermes update`: says how; with `--check` asks the registry first, exit code 1 where there is something newer. */
export async function update(
  io: Io,
  { check, json }: { readonly check?: boolean; readonly json?: boolean },
): Promise<number> {
  const installation = findInstallation()
  if (!check) {
    if (json) throw new UsageError('--json goes with --check.')
    io.stdout.write(`${howTo(installation)}\n`)
    return EXIT.ok
  }
  const { url, from } = await findRegistry(io)
  const latest = await withRuntime(io, (runtime) => latestVersion(url, PACKAGE, runtime.fetchTo(url)))
  const hasNewer = isNewer(latest, installation.version)
  const facts = {
    installed: installation.version,
    latest,
    isNewer: hasNewer,
    registry: `${withoutLogin(url)}/`,
    registryFrom: from,
  }
  if (json) io.stdout.write(`${JSON.stringify(facts)}\n`)
  else if (hasNewer) io.stdout.write(`${latest} is there; this is ${installation.version}. ${howTo(installation)}\n`)
  else io.stdout.write(`${installation.version} is the newest version (${withoutLogin(url)}/).\n`)
  return hasNewer ? EXIT.failed : EXIT.ok
}

function howTo({ by, folder }: Installation): string {
  switch (by) {
    case 'npm':
      return `To update: npm install -g ${PACKAGE}@latest`
    case 'pnpm':
      return `To update: pnpm add -g ${PACKAGE}@latest`
    case 'npx':
      return `npx takes the newest version by itself: npx ${PACKAGE}@latest`
    case 'sources':
      return `This one runs from sources in ${folder}: fetch them anew and build them.`
    default:
      return by satisfies never
  }
}
