export { RequestServer } from './serve-requests.js'
export { serveStreams } from './serve-streams.js'
export type { OpenQuestion, RunOutcome, ServedHome, ServedRun } from './served-home.js'
