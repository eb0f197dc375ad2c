import type { BackgroundProcess } from '@hermes/contracts/environment'

/** The process whose id is `id` or alone begins with it; otherwise what is wrong. */
export function findProcess(
  processes: readonly BackgroundProcess[],
  id: string | undefined,
): BackgroundProcess | string {
  const ids = processes.map((process) => process.info().id)
  const known = ids.length === 0 ? 'There are no background processes.' : `Known: ${ids.join(', ')}.`
  if (id === undefined || id === '') return `session_id is missing. ${known}`
  const exact = processes.find((process) => process.info().id === id)
  const found = exact ? [exact] : processes.filter((process) => process.info().id.startsWith(id))
  if (found.length > 1)
    return `session_id "${id}" is the beginning of several: ${found.map((p) => p.info().id).join(', ')}.`
  return found[0] ?? `There is no background process "${id}". ${known}`
}
