export { type ConfinedLimits, type ConfinedModule, type ConfinedResult, runConfined } from './run-confined.js'
