export type { DaytonaOptions } from './daytona-options.js'
export { openDaytonaEnvironment, probeDaytona } from './open-daytona.js'
