export type { Io, Output } from './io.js'
export { runApp } from './run-app.js'
