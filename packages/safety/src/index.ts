export { createAllowAllPolicy } from './allow-all-policy.js'
export {
  type Approval,
  type ApprovalStore,
  type AuditRecord,
  type AuditSink,
  createMemoryApprovalStore,
} from './approvals.js'
export { type CommandClass, classifyCommand } from './command/classify-command.js'
export type { CommandContext } from './command/context.js'
export { destroyedPaths, isDestructive } from './command/is-destructive.js'
export { type CheckPathOptions, checkPath, isWithin, type PathCheck, type PathOperation } from './path/check-path.js'
export { createPermit, isPermit, sameAction } from './permit.js'
export { createPolicy, type PolicyOptions } from './policy.js'
export { REDACTED } from './redact/forms.js'
export { createRedactor, type Redactor } from './redact/redactor.js'
export { createStreamRedactor, type StreamRedactor } from './redact/stream-redactor.js'
export { type PermissionRule, parseRules, type RuleEffect } from './rules.js'
export { blockedContext, type ContextFinding, scanContext } from './scan-context.js'
export { type CheckUrlOptions, checkUrl, type UrlCheck } from './url/check-url.js'
export { createOriginFetch, type OriginFetchOptions } from './url/origin-fetch.js'
export { isThisMachine, type Proxies, type ReadProxies, readProxies } from './url/proxies.js'
