import type { Decision } from './source-rules.js'

/** One thing that another agent's home has and this one could have too. */
export type ImportItem =
  | { readonly type: 'soul'; readonly text: string }
  | { readonly type: 'memory'; readonly target: 'memory' | 'user'; readonly entry: string }
  /** Every regular file below a folder, by its path in it. */
  | { readonly type: 'skill'; readonly name: string; readonly files: ReadonlyMap<string, Buffer> }
  /** A value of config.yaml; secrets in it are references to variables of {@link ImportItem} `secret`. */
  | { readonly type: 'setting'; readonly path: readonly string[]; readonly value: unknown }
  | { readonly type: 'rule'; readonly pattern: string; readonly decision: Decision }
  | { readonly type: 'secret'; readonly name: string; readonly value: string }
  /** What stays behind, and why. */
  | { readonly type: 'left'; readonly name: string; readonly why: string }

/** The agents whose homes are understood. */
export const AGENTS = ['claude-code', 'codex', 'openclaw', 'hermes'] as const
/** One of {@link AGENTS}. */
export type Agent = (typeof AGENTS)[number]
