export { openCommandContext } from './command-context.js'
export type { EventReader } from './event-bus.js'
export { type OpenRequest, type PermissionMode, type Turn, unattendedMode } from './live-session.js'
export { createServedHome } from './served-home.js'
export type { HostEventBody, SessionEvent } from './session-event.js'
export {
  createSessionHost,
  type QueuePlace,
  type SessionAgent,
  type SessionHandle,
  type SessionHost,
  type SessionHostOptions,
} from './session-host.js'
