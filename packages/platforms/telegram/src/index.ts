export { createTelegram, type TelegramOptions } from './telegram.js'
