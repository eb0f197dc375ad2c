export { type Clock, systemClock } from './clock.js'
export { type ErrorDetails, errorLine, HermesError, type HermesErrorOptions, isAbort } from './error.js'
export { isJsonObject, type JsonObject, type JsonValue } from './json.js'
export { type LogFields, type Logger, silentLogger } from './logger.js'
