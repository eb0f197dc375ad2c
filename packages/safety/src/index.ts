export type { Approval, ApprovalStore, AuditRecord, AuditSink } from '@hermes/contracts/policy'
export { createAllowAllPolicy } from './allow-all-policy.js'
export { createMemoryApprovalStore } from './approvals.js'
export { type CommandClass, classifyCommand } from './command/classify-command.js'
export { MAX_COMMAND_CHARS } from './command/collect.js'
export type { CommandContext } from './command/context.js'
export { needsNetwork, REGISTRY_COMMANDS } from './command/needs-network.js'
export { needsOutside } from './command/needs-outside.js'
export { looksAlone, mayChangeFiles, onlyLooks } from './command/only-looks.js'
export { type ProgramRun, programsRun } from './command/programs-run.js'
export { isSecretPath } from './command/reads-secrets.js'
export { outputSources } from './command/stays-here.js'
export { writtenPaths } from './command/written-paths.js'
export type { EvaluationSettings } from './evaluation-settings.js'
export {
  type GitSetting,
  gitSettingsEnv,
  isOfRepository,
  readGitSettings,
  withoutRepositoryPrograms,
} from './git/repository-programs.js'
export { type CheckPathOptions, checkPath, isWithin, type PathOperation } from './path/check-path.js'
export {
  changesGitPrograms,
  changesIdeaRuns,
  changesLifecycle,
  isLaterFolder,
  mayHoldLaterFiles,
  surfaceOf,
} from './path/surfaces.js'
export { createPermit, isPermit } from './permit.js'
export { createPolicy, type PolicyOptions, type RevocablePolicy } from './policy.js'
export { fenceRecalled, type RecallFence, recallFences, withoutRecallFence } from './recall-fence.js'
export { REDACTED } from './redact/forms.js'
export { createRedactor, type Redactor } from './redact/redactor.js'
export { createStreamRedactor } from './redact/stream-redactor.js'
export type { Review, Reviewer } from './reviewer.js'
export { type PermissionRule, parseRules, type RuleEffect } from './rules.js'
export type { ContextFinding } from './scan-context.js'
export { type SkillsInCommand, skillOf, skillsInCommand } from './skill-programs.js'
export { type CheckUrlOptions, checkUrl } from './url/check-url.js'
export { isRange } from './url/ip-address.js'
export { createOriginFetch } from './url/origin-fetch.js'
export { isThisMachine, type Proxies, proxyFor, readProxies, withoutLogin } from './url/proxies.js'
export { visibleText } from './visible-text.js'
