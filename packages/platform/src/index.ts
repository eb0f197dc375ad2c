export { type Aliases, openAliases } from './aliases.js'
export { Breaker, type BreakerState, Reconnection } from './breaker.js'
export { chatKey, isShared } from './chat-key.js'
export {
  type Chat,
  type ChatAction,
  ChatStore,
  type KeptAction,
  renewedChat,
  type ShownCalls,
  storedChats,
  targetOf,
} from './chat-store.js'
export { formatTarget, HOME_CHAT, parseAddress, parseTarget } from './chat-target.js'
export { type Delivery, deliver, type WatchedOutbox } from './deliver.js'
export { continueHere } from './handoff.js'
export { Messaging, type MessagingOptions } from './messaging.js'
export { namedFiles } from './named-files.js'
export {
  type Outgoing,
  type SendableMessage,
  type SenderOutbox,
  sendOutbox,
} from './outbox-sender.js'
export { createPairings, type Pairings } from './pairing.js'
export { type Access, type AccessSettings, createAccess } from './platform-access.js'
export { connectionError, failureOf, platformError } from './platform-error.js'
export { SESSION_MAIL, sendToSession } from './session-mail.js'
export { sizeIn, splitMessage } from './split-message.js'
