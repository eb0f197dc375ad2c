export {
  type BotApiFault,
  type BotApiMessage,
  type BotApiServer,
  type ChatPerson,
  startBotApiServer,
} from './bot-api-server.js'
