import type { BigIntStats } from 'node:fs'
import type { CgroupPlaces } from './cgroup.js'
import type { IsolationSupport } from './isolation-support.js'
import type { ProgramLimits } from './namespace-limits.js'

/** What isolated commands may touch. All paths absolute; those that do not exist are passed over. */
export interface IsolationOptions {
  /** Folders and files nobody may read, beside the usual places of credentials in the home directory, for example the Hermes home. */
  readonly hidden?: readonly string[]
  /** Writable, beside the working directory, the git tree around it and the temporary folders; shown even where a folder above is hidden. */
  readonly writable?: readonly string[]
  /** Readable though they, or a folder above, are hidden. */
  readonly readable?: readonly string[]
  /**
   * Default `true`; without it commands have only a loopback that they share, where `nsenter` is installed, else each its own. `ask`: with it,
   * but for those that are started with `network: off`.
   */
  readonly network?: boolean | 'ask'
  /** Whether nothing runs where isolation cannot be had; else it runs without. Default `true`. */
  readonly required?: boolean
  /** What is known of this machine, so that a program looks once. Default: a look for each environment. */
  readonly support?: IsolationSupport
  /** What the programs of the environment may use together, on Linux; more ends all of them. Default: see {@link ProgramLimits}. */
  readonly limits?: Partial<ProgramLimits>
  /** Where the kernel shows its cgroups, which keep these limits where one was delegated to this user. Default: the usual places. */
  readonly cgroups?: CgroupPlaces
  /** Shared by the environments of a program, so that a folder keeps its bounds in all of them. Default: a look for each. */
  readonly workspaces?: Workspaces
}

/** What tells one folder from every other. */
export type Identity = Pick<BigIntStats, 'dev' | 'ino'>

/** A workspace as it was found first. */
export interface Workspace {
  /** Without links. */
  readonly path: string
  /** `null` where there was nothing. */
  readonly stats: Identity | null
}

/** The workspaces of one program, by the path they were asked for. */
export type Workspaces = Map<string, Workspace>
