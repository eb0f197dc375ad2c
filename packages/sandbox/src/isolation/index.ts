export { probeIsolation } from './probe-isolation.js'
