export { type CodeHost, type CodeHostOptions, createCodeHost } from './code-host.js'
export { type CodeRequest, codeAction } from './code-request.js'
export type { CodeResult } from './code-result.js'
export type { Language } from './language.js'
