export { telemetry } from './extension.js'
