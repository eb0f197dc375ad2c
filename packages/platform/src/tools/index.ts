export { createSendMessageTool, type MessagingService, type PlatformToolServices } from './send-message.js'
export { createSessionsSendTool } from './sessions-send.js'
