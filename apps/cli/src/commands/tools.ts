import { changeConfigList } from '@hermes/config'
import { type Runtime, toolsetsOf } from '@hermes/runtime'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { homeOf, openCli, withRuntime } from '../open-cli.js'

/** `hermes tools list --json`: tools and toolsets in one object. */
export function toolsJson(io: Io): Promise<number> {
  return withRuntime(io, async (runtime) => {
    io.stdout.write(`${JSON.stringify({ tools: await runtime.tools(), toolsets: runtime.toolsets() })}\n`)
    return EXIT.ok
  })
}

/** Flags of `hermes tools enable` and `disable`. */
interface SwitchFlags {
  /** One platform only, such as `telegram`. */
  readonly platform?: string
}

/** `hermes tools enable NAME…`: new sessions have these toolsets. */
export function toolsEnable(io: Io, names: readonly string[], { platform }: SwitchFlags): Promise<number> {
  return withToolsets(io, names, async ({ home, runtime, members }) => {
    const { config } = runtime
    await changeConfigList({ home, key: 'agent.disabled_toolsets', change: without(names) })
    const key = listKey(config, platform)
    const current = chosenSets(runtime, platform)
    const covered = current.flatMap(members)
    const missing = names.filter((name) => !members(name).every((tool) => covered.includes(tool)))
    if (missing.length > 0) await changeConfigList({ home, key, change: () => [...current, ...missing] })
    io.stdout.write(`On from the next session: ${names.join(', ')}.\n`)
  })
}

/** `hermes tools disable NAME…`: new sessions do not have these toolsets, and running ones may not call them any more. */
export function toolsDisable(io: Io, names: readonly string[], { platform }: SwitchFlags): Promise<number> {
  return withToolsets(io, names, async ({ home, runtime, members, parts }) => {
    const gone = names.flatMap(members)
    if (platform === undefined) {
      await changeConfigList({
        home,
        key: 'agent.disabled_toolsets',
        change: (items) => [...without(names)(items), ...names],
      })
    } else {
      const current = chosenSets(runtime, platform)
      const left = current.flatMap((name) => (members(name).some((tool) => gone.includes(tool)) ? parts(name) : [name]))
      const kept = left.filter((name) => !members(name).some((tool) => gone.includes(tool)))
      await changeConfigList({ home, key: `platform_toolsets.${platform}`, change: () => kept })
    }
    io.stdout.write(`Off: ${names.join(', ')}.\n`)
  })
}

const without =
  (names: readonly string[]) =>
  (items: readonly unknown[]): readonly unknown[] =>
    items.filter((item) => !names.includes(String(item)))

/** Where the sets of a platform are written. */
function listKey(config: Runtime['config'], platform: string | undefined): string {
  if (platform !== undefined) return `platform_toolsets.${platform}`
  return config.platform_toolsets['cli'] ? 'platform_toolsets.cli' : 'toolsets'
}

function chosenSets({ config, chatPlatforms }: Runtime, platform: string | undefined): readonly string[] {
  if (platform === undefined) return config.platform_toolsets['cli'] ?? config.toolsets
  return toolsetsOf(
    config,
    platform,
    chatPlatforms.find(({ name }) => name === platform),
  )
}

interface Switching {
  readonly home: string
  readonly runtime: Runtime
  /** The tools of a set, those of the sets it includes among them. */
  readonly members: (name: string) => readonly string[]
  /** The sets that a set is made of; the set itself where it is made of tools. */
  readonly parts: (name: string) => readonly string[]
}

async function withToolsets(
  io: Io,
  names: readonly string[],
  work: (switching: Switching) => Promise<void>,
): Promise<number> {
  const runtime = await openCli(io, { yolo: false })
  try {
    const sets = runtime.toolsets()
    for (const name of names) {
      if (Object.hasOwn(sets, name)) continue
      const tool = (await runtime.tools()).find((one) => one.name === name)
      const hint = tool
        ? `It is a tool of the set ${tool.toolset}`
        : `There are: ${Object.keys(sets).sort().join(', ')}`
      throw new UsageError(`${name} is not a toolset. ${hint}.`)
    }
    const members = (name: string) => sets[name]?.tools ?? []
    const parts = (name: string): readonly string[] => {
      const includes = sets[name]?.includes ?? []
      return includes.length === 0 ? [name] : includes.flatMap(parts)
    }
    await work({ home: homeOf(io), runtime, members, parts })
    return EXIT.ok
  } finally {
    await runtime.close()
  }
}
