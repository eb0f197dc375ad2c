import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import {
  type ContainerOptions,
  containerName,
  type Limits,
  labelFilters,
  MANAGED_LABEL,
  runArgs,
} from './container-options.js'
import { askEngine, type EngineOptions, engineFailure } from './engine.js'

/** An image may have to be pulled. */
const RUN_LIMIT_MS = 600_000
const ASK_LIMIT_MS = 30_000
/** What engines say that cannot enforce limits. */
const NO_DISK_LIMIT = /storage-opt|storage opt|pquota|project quota/i
const NO_LIMITS = /cgroup|NanoCPUs|cpu cfs|memory limit|cpu controller|Minimum memory/i

/**
 * The running container for `options`: one that is there already, else a new one. Returns its id.
 * @throws HermesError `environment.engine_*`, `environment.image_missing`.
 */
export async function ensureContainer(
  engine: EngineOptions,
  options: ContainerOptions,
  logger: Logger,
): Promise<string> {
  const there = await findContainer(engine, options)
  if (there === null) return createContainer(engine, options, logger)
  if (!there.isRunning) await ask(engine, ['start', there.id])
  return there.id
}

async function findContainer(engine: EngineOptions, options: ContainerOptions) {
  const format = '{{.ID}} {{.State}}'
  const output = await ask(engine, ['ps', '--all', '--no-trunc', ...labelFilters(options), '--format', format])
  const [id, state] = output.trim().split('\n')[0]!.split(' ')
  return id ? { id, isRunning: state === 'running' } : null
}

async function createContainer(engine: EngineOptions, options: ContainerOptions, logger: Logger): Promise<string> {
  const run = (limits: Limits) => askEngine(engine, runArgs(options, limits), RUN_LIMIT_MS)
  const lacks = async (limits: Limits, why: string) => {
    logger.warn('This container engine cannot enforce all limits; the container runs without.', { limits, why })
    await removeContainer(engine, containerName(options))
    return run(limits)
  }
  let output = await run('all')
  if (output.exitCode !== 0 && NO_DISK_LIMIT.test(output.stderr)) output = await lacks('no-disk', output.stderr.trim())
  if (output.exitCode !== 0 && NO_LIMITS.test(output.stderr)) output = await lacks('none', output.stderr.trim())
  if (output.exitCode === 0) return output.stdout.trim()
  // Another program made it in the meantime.
  const other = /already in use/.test(output.stderr) ? await findContainer(engine, options) : null
  if (other?.isRunning) return other.id
  await removeContainer(engine, containerName(options))
  throw engineFailure(output.exitCode, output.stderr)
}

/** Removes a container with all that is in it; one that is not there is fine. */
export async function removeContainer(engine: EngineOptions, id: string): Promise<void> {
  await askEngine(engine, ['rm', '--force', '--volumes', id], ASK_LIMIT_MS)
}

/** Removes containers of ours that ended longer than `afterMs` ago. Running ones are left alone, whoever uses them. */
export async function reapContainers(
  engine: EngineOptions,
  { afterMs, clock, logger }: { readonly afterMs: number; readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  try {
    const filters = ['--filter', `label=${MANAGED_LABEL}=1`, '--filter', 'status=exited']
    const ids = (await ask(engine, ['ps', '--all', '--no-trunc', ...filters, '--format', '{{.ID}}']))
      .split('\n')
      .filter(Boolean)
    if (ids.length === 0) return
    const ends = await ask(engine, ['inspect', '--format', '{{.Id}} {{.State.FinishedAt}}', ...ids])
    for (const line of ends.trim().split('\n')) {
      const [id, ...at] = line.split(' ')
      const endedMs = Date.parse(at.join(' ').replace(/^(\S+) (\S+?)(\.\d+)? ([+-]\d{4}).*$/, '$1T$2$4'))
      if (id && clock.now() - endedMs > afterMs) await removeContainer(engine, id)
    }
  } catch (error) {
    logger.warn('Containers that ended were not removed.', { error: errorLine(error) })
  }
}

async function ask(engine: EngineOptions, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await askEngine(engine, args, ASK_LIMIT_MS)
  if (exitCode !== 0) throw engineFailure(exitCode, stderr)
  return stdout
}
