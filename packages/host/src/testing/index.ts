export { type ModelStep, type SessionHostSubject, testSessionHost } from './test-session-host.js'
