import type { Delegation } from '@hermes/agent-core'
import type { AgentCheckpoints, HomeCheckpoints } from '@hermes/checkpoints/extension'
import type { HermesConfig } from '@hermes/config'
import type { Clock } from '@hermes/contracts'
import type { ModelClient } from '@hermes/contracts/model'
import type { FolderTrust } from '@hermes/contracts/policy'
import type { StagedNotes } from '@hermes/memory'
import type { MemoryToolServices } from '@hermes/memory/tools'
import type { MessagingService } from '@hermes/platform/tools'
import {
  createToolRegistry,
  type KeepResult,
  resolveToolsets,
  type ToolRegistry,
  type ToolsetSelection,
} from '@hermes/registry'
import type { IsolationSupport } from '@hermes/sandbox'
import type { Storage } from '@hermes/storage'
import { createSharedFiles, type SudoSettings, type ToolSettings } from '@hermes/tools'
import type { Web } from '@hermes/web'
import type { OwnPlatform } from '../chats/own-platform.js'
import { toolFactories } from '../generated/tools.js'
import { DEFAULT_PLATFORM, disclosureOf, toolSettings, toolsetsOf } from '../home/settings.js'
import type { HomeLongMemory } from '../memory/home-long-memory.js'
import type { HomeMemory } from '../memory/home-memory.js'
import type { AgentRequest, Runtime, ToolStatus } from '../runtime.js'
import type { HomeCode } from './home-code.js'
import { delegationLimits, noChild } from './lineage.js'

/** What the tools of a home depend on. */
interface HomeToolsOptions {
  readonly config: HermesConfig
  /** Where agents work that name no folder. */
  readonly cwd: string
  readonly checkpoints: HomeCheckpoints
  readonly memoryOf: (person: string | null) => {
    readonly files: HomeMemory | null
    readonly long: HomeLongMemory | null
  }
  /** What waits for a person where `memory.write_approval` says so. */
  readonly stagedNotes: StagedNotes
  readonly storage: () => Promise<Storage>
  readonly web: Web
  /** Asked for once extensions are set up. */
  readonly messaging: () => MessagingService | null
  /** A chat platform that an extension brings. */
  readonly ownPlatform: (name: string) => Pick<OwnPlatform, 'toolsets'> | undefined
  /** The programs of an agent that works in this folder. */
  readonly codeIn: (cwd: string, person: string | null) => HomeCode
  /** Whether who answers in this session sees images. */
  readonly seesImages: (sessionId: string) => Promise<boolean>
  /** For a model that does not. */
  readonly describeImage: NonNullable<ToolSettings['describeImage']>
  readonly fetchBytes: NonNullable<ToolSettings['fetchBytes']>
  /** The default mixture, asked with the account of a session. */
  readonly mixture: (sessionId: string) => Promise<ModelClient>
  readonly keepResult: KeepResult
  /** What extensions bring, as it comes and goes. */
  readonly extensionTools: ToolRegistry
  readonly sudo: SudoSettings
  readonly trust: FolderTrust
  readonly isolationSupport: IsolationSupport
  readonly clock: Clock
}

/** What the tools of one agent depend on. */
interface AgentTools {
  /** Whom it serves. */
  readonly person: string | null
  readonly checkpoints: AgentCheckpoints
  readonly code: HomeCode
  readonly delegation: Delegation | null
  /** The only tools there are; `null` for all. */
  readonly allowed: readonly string[] | null
}

/** The tools of a home: which there are, which are on, and a registry of them for each agent. */
export class HomeTools {
  readonly #options: HomeToolsOptions
  /** Agents and their children work on the same files. */
  readonly #sharedFiles = createSharedFiles()
  #messaging: MessagingService | null = null

  constructor(options: HomeToolsOptions) {
    this.#options = options
  }

  #stageNote(person: string | null): MemoryToolServices['stageNote'] {
    const { config, stagedNotes, clock } = this.#options
    if (!config.memory.write_approval) return null
    return (note) => stagedNotes.add({ ...note, person, atMs: clock.now() })
  }

  /** The tools of an agent; without one, all tools, to be listed. */
  registry({ person = null, checkpoints, code, delegation, allowed }: Partial<AgentTools> = {}): ToolRegistry {
    const {
      config,
      cwd,
      memoryOf,
      storage,
      seesImages,
      describeImage,
      fetchBytes,
      mixture,
      codeIn,
      keepResult,
      sudo,
      trust,
    } = this.#options
    const { extensionTools, isolationSupport, web, messaging, clock } = this.#options
    const { services: snapshots } = checkpoints ?? this.#options.checkpoints.forAgent(cwd)
    const memory = memoryOf(person)
    const services = {
      ...toolSettings(config),
      sharedFiles: this.#sharedFiles,
      sudo,
      trusts: (path: string) => trust.isTrusted(path),
      isolationSupport,
      ...snapshots,
      seesImages,
      describeImage,
      fetchBytes,
      storage,
      web,
      messaging: (this.#messaging ??= messaging()),
      memory: memory.files?.open ?? null,
      stageNote: this.#stageNote(person),
      recall: memory.long,
      code: code ?? codeIn(cwd, person),
      mixture: Object.keys(config.moa.presets).length > 0 ? mixture : null,
      // For a list of tools it does not matter how a child would be made.
      delegation:
        delegation === undefined ? { limits: delegationLimits(config), depth: 0, createChild: noChild } : delegation,
      clock,
    }
    const registry = createToolRegistry({
      tools: toolFactories.map((create) => create(services)),
      allowed,
      disclosure: disclosureOf(config),
      toolsets: config.custom_toolsets,
      keepResult,
    })
    registry.use(extensionTools)
    return registry
  }

  /** The toolsets of a request, else those of config.yaml. */
  selection({
    platform = DEFAULT_PLATFORM,
    toolsets,
    withoutToolsets = [],
  }: Pick<AgentRequest, 'platform' | 'toolsets' | 'withoutToolsets'>): ToolsetSelection {
    const { config, ownPlatform } = this.#options
    return {
      enabled: toolsets ?? toolsetsOf(config, platform, ownPlatform(platform)),
      disabled: [...config.agent.disabled_toolsets, ...withoutToolsets],
    }
  }

  async list(): Promise<readonly ToolStatus[]> {
    const registry = this.registry()
    const enabled = resolveToolsets(registry.toolsets(), this.selection({}))
    const available = await registry.available()
    return registry.names().map((name) => {
      const { toolset, description, requires = [] } = registry.get(name)!
      const [isEnabled, isAvailable] = [enabled.includes(name), available.includes(name)]
      return { name, toolset, description, isEnabled, isAvailable, requires }
    })
  }

  toolsets(): ReturnType<Runtime['toolsets']> {
    const all = this.registry().toolsets()
    return Object.fromEntries(
      Object.entries(all).map(([name, { description, includes }]) => [
        name,
        { description, includes, tools: resolveToolsets(all, { enabled: [name] }) },
      ]),
    )
  }
}
