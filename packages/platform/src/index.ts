export { type ChatKeyOptions, chatKey, isShared } from './chat-key.js'
export { type ChatTarget, formatTarget, parseAddress, parseTarget } from './chat-target.js'
export {
  type Outgoing,
  type SendableMessage,
  type SenderOptions,
  type SenderOutbox,
  sendOutbox,
} from './outbox-sender.js'
export { type ApprovedPairing, createPairings, type Pairings, type PendingPairing } from './pairing.js'
export { connectionError, failureOf, type PlatformFailure, platformError } from './platform-error.js'
export { sizeIn, splitMessage } from './split-message.js'
