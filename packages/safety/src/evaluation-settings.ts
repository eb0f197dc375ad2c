import type { Subject } from '@hermes/contracts/policy'
import type { EvaluationOptions } from './evaluate.js'
import { type ParsedRule, type PermissionRule, parseRule } from './rules.js'
import type { CheckUrlOptions } from './url/check-url.js'

/** What decisions depend on besides the action and answers given before. */
export interface EvaluationSettings {
  /** `ask` a person about what is dangerous; `off` allows what only a question stands against. */
  readonly mode: 'ask' | 'off'
  /** Absolute path of the Hermes home, whose files are protected. */
  readonly home: string
  /** Absolute path of the person's home folder. */
  readonly userHome: string
  /** Default none. Rules with bad patterns are refused, see `parseRules`. */
  readonly rules?: readonly PermissionRule[]
  /** Absolute roots that relative patterns refer to. Default none. */
  readonly workspace?: readonly string[]
  /** Globs over commands, paths, URLs and targets that block even with `mode: off`. Default none. */
  readonly denyGlobs?: readonly string[]
  /** `command_allowlist`: command globs, or names of rules such as `recursive-delete`. Default none. */
  readonly allowlist?: readonly string[]
  /** Default `allow`. */
  readonly readOutsideWorkspace?: 'allow' | 'ask' | 'deny'
  /** Absolute folders; no tool writes a file outside of them, whatever else permits it. Default: no such limit. */
  readonly writeRoots?: readonly string[]
  /** Absolute places that are read without a question although they are hidden by default. Default none. */
  readonly readable?: readonly string[]
  /** Whether loopback and private networks are fetched without asking. Default: they ask. */
  readonly network?: CheckUrlOptions
  /**
   * Backends that are machines of the agent's own, with nothing of the user's mounted: what is about the machine itself asks nothing there.
   * Default none.
   */
  readonly contained?: readonly string[]
}

/** Where rules made from the allowlist come from. */
const ALLOWLIST_SOURCE = 'command_allowlist'

/** Settings read for use. Rules of the allowlist come first, so that all others count before them. */
export interface EvaluationContext {
  readonly options: Omit<EvaluationOptions, 'rules' | 'granted'>
  readonly rules: readonly ParsedRule[]
  /** Names of built-in rules that the allowlist permits. */
  readonly granted: ReadonlySet<string>
}

/** @throws TypeError for a rule that cannot be read. */
export function readSettings(settings: EvaluationSettings): EvaluationContext {
  const { mode, home, userHome, workspace = [], denyGlobs = [], network = {}, allowlist = [] } = settings
  const { readOutsideWorkspace = 'allow', writeRoots = [], readable = [], contained = [] } = settings
  const allowed = allowlist.map(
    (entry): PermissionRule => ({ pattern: `terminal(${entry})`, effect: 'allow', source: ALLOWLIST_SOURCE }),
  )
  return {
    options: {
      ...{ mode, home, userHome, workspace, denyGlobs, network },
      ...{ readOutsideWorkspace, writeRoots, readable, contained },
    },
    rules: [...allowed, ...(settings.rules ?? [])].map(readRule),
    granted: new Set(
      allowlist.map((entry) =>
        entry
          .trim()
          .toLowerCase()
          .replace(/[\s_]+/g, '-'),
      ),
    ),
  }
}

/** The folder that a session works in goes before those of the settings. */
export function workspaceOf({ workspace }: Subject): Partial<Pick<EvaluationOptions, 'workspace'>> {
  return workspace === undefined ? {} : { workspace: [workspace] }
}

/** @throws TypeError for a rule that cannot be read. */
export function readRule(rule: PermissionRule): ParsedRule {
  const parsed = parseRule(rule)
  if (typeof parsed === 'string') throw new TypeError(parsed)
  return parsed
}
