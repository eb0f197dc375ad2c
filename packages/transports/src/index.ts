export { type BackoffOptions, jitteredBackoff } from './backoff.js'
export {
  ABSENT_PROVIDERS,
  absentProvider,
  findProvider,
  keyVariablesFor,
  PROVIDERS,
  type Provider,
  type ProviderQuirks,
  similar,
  similarProviders,
} from './catalogue.js'
export { type ClassifyContext, classifyError, responseHeaders } from './classify-error.js'
export { createTransport, type TransportOptions } from './create-transport.js'
export { detectApi } from './detect-api.js'
export { listModels, modelListRequest } from './list-models.js'
export { type RateLimit, rateLimits, refusedUntilMs } from './rate-limits.js'
export { defaultPlaceholders, type Placeholder } from './recording/placeholders.js'
export { createRecorder } from './recording/recorder.js'
export { serveRecording } from './recording/serve-recording.js'
export { parseToolArguments } from './tool-arguments.js'
export { type CallTarget, toTransportError } from './transport-error.js'
export { awsCredential, bedrockAddress } from './wires/bedrock-converse/aws-credential.js'
export { toWireMessages } from './wires/chat-completions/wire-messages.js'
export type { WireMessage, WirePart, WireToolCall } from './wires/chat-completions/wire-types.js'
export { wireTakes } from './wires/taken-parts.js'
