export { createFakeClock, type FakeClock } from './fake-clock.js'
export { handlersOf } from './handlers-of.js'
export { FAULT_SETUPS, type FaultSetup, HALF_TEXT, MODEL_FAULTS, type ModelFault } from './model-faults.js'
export { checkConverseRequest } from './model-server/converse-body.js'
export { encodeEventMessage } from './model-server/event-stream.js'
export { checkMessagesRequest } from './model-server/messages-body.js'
export {
  type CapturedRequest,
  type ModelServer,
  type StepHandler,
  startModelServer,
} from './model-server/model-server.js'
export { checkResponsesRequest } from './model-server/responses-body.js'
export type { AnswerStep, FaultStep, ModelStep, StepToolCall } from './model-server/step.js'
export { checkWirePairs, type WireBody, type WireMessage } from './model-server/wire-body.js'
export { checkPrefix, prefixLines } from './prefix.js'
export { finish, type ScriptedStep, scriptedModel } from './scripted-model.js'
export { type SocksServerOptions, startSocksServer } from './socks-server.js'
export { type TemporaryHome, temporaryHome } from './temporary-home.js'
export { type AlertServer, startAlertServer, trustLoopback } from './tls/alert-server.js'
