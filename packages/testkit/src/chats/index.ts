export {
  type BotApiServer,
  startBotApiServer,
} from './bot-api-server.js'
