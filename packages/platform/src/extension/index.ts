export { handoffCommand } from './handoff-command.js'
