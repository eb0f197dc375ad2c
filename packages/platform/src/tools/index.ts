export { createSendMessageTool, type MessagingService, type PlatformToolServices } from './send-message.js'
