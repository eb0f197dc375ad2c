import type { StartMark } from './start-mark.js'

/** One program to start: what is run, with what. */
export interface Started {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Folders of the environment. */
export interface WorkingFolders {
  /** Ours alone. */
  readonly scratch: string
  /** Where the program leaves its state; nothing in it is to be trusted. */
  readonly writable: string
}

/** How to start an isolated program. */
export interface IsolatedProgram extends Started {
  /** What it gets as file descriptors 4, 5 and so on. */
  readonly descriptors: readonly number[]
  /** Whether it has a process namespace of its own, from which it cannot tell the orphan guard of its group. */
  readonly isConfined: boolean
  /** Tells whether it runs; `null` where nothing is between us and the program. */
  readonly mark: StartMark | null
  /** Why all programs of the environment were ended since, as a line; `null` when they were not. */
  stopped(): string | null
  /** Closes the descriptors; called once it runs, or could not be started. */
  release(): void
}

/** See `Isolation.wrap`. */
export type Isolate = (
  requested: Started,
  folders: WorkingFolders,
  options?: {
    readonly network?: 'on' | 'off'
    /** Absolute: read although they are hidden. Default: none. */
    readonly readable?: readonly string[]
    /** Whether it goes on when the agent dies. Default `false`. */
    readonly outlives?: boolean
  },
) => Promise<IsolatedProgram>

/** How to start a program that nothing is done to. */
export const notIsolated = (requested: Started): IsolatedProgram => ({
  ...requested,
  descriptors: [],
  isConfined: false,
  mark: null,
  stopped: () => null,
  release: () => undefined,
})
