export { type ModelTurn, type SessionHostSubject, testSessionHost } from './test-session-host.js'
