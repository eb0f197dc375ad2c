export { chatKey, isShared } from './chat-key.js'
export { formatTarget, HOME_CHAT, parseAddress, parseTarget } from './chat-target.js'
export {
  type Outgoing,
  type SendableMessage,
  type SenderOutbox,
  sendOutbox,
} from './outbox-sender.js'
export { createPairings, type Pairings } from './pairing.js'
export { connectionError, failureOf, platformError } from './platform-error.js'
export { sizeIn, splitMessage } from './split-message.js'
